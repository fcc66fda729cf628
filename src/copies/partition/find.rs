//! `find_partition`: splitting the paths of one procedure into tasks (P3 paper, Algorithm 2;
//! `docs/ALGORITHMS.md` §5).

use crate::base::index::{EdgeId, IdSet, TiVec, VertexId};
use crate::paths::dag::Dag;
use crate::paths::dag::reduced::Reduced;

/// Splits the paths of `graph`'s DAG into tasks: the edge sets partition the paths (each path
/// has all its edges in exactly one of them).
///
/// The walk stops as soon as it holds `threshold` path prefixes. O(tasks × E).
pub fn find_partition(dag: &Dag, graph: &Reduced, threshold: usize) -> Vec<IdSet<EdgeId>> {
    let walk = PrefixWalk::run(dag, graph, threshold);
    let mut tasks = Vec::new();
    for v in graph.vertices() {
        let prefixes = &walk.held[v];
        // Prefixes that were extended by all ways out are covered by longer ones.
        if prefixes.is_empty() || !(v == dag.exit() || walk.has_uncovered(graph, v)) {
            continue;
        }
        // What is beyond `v` is the same for each of its prefixes, so it is looked for once.
        let rest = walk.find_uncovered_beyond(dag, graph, v);
        tasks.extend(prefixes.iter().map(|&p| walk.task(dag, graph, &rest, p)));
    }
    tasks
}

/// A path prefix as a list that shares its beginning with others: the last edge and the rest.
#[derive(Clone, Copy)]
struct Prefix {
    last: EdgeId,
    before: Option<u32>,
}

struct PrefixWalk {
    prefixes: Vec<Prefix>,
    /// By vertex: the prefixes from ENTRY to it (`v.SE` of the paper); `None` is the empty one.
    held: TiVec<VertexId, Vec<Option<u32>>>,
    covered: IdSet<EdgeId>,
}

impl PrefixWalk {
    fn run(dag: &Dag, graph: &Reduced, threshold: usize) -> PrefixWalk {
        let mut walk = PrefixWalk {
            prefixes: Vec::new(),
            held: dag.by_vertex(Vec::new()),
            covered: dag.edge_set(),
        };
        walk.held[dag.entry()].push(None);
        let mut total = 1;
        for v in graph.vertices().filter(|&v| v != dag.exit()) {
            // Prefixes at `v` are extended by each edge out of it, and are no prefixes of their own any more.
            total -= walk.held[v].len();
            for e in graph.out_edges(v) {
                total += walk.extend(dag, v, e);
                if total >= threshold {
                    return walk;
                }
            }
        }
        walk
    }

    /// Moves every prefix held at `v` along `e`; how many there are.
    fn extend(&mut self, dag: &Dag, v: VertexId, e: EdgeId) -> usize {
        self.covered.insert(e);
        let target = dag.edge(e).dst;
        for i in 0..self.held[v].len() {
            let before = self.held[v][i];
            self.prefixes.push(Prefix { last: e, before });
            self.held[target].push(Some(self.prefixes.len() as u32 - 1));
        }
        self.held[v].len()
    }

    fn has_uncovered(&self, graph: &Reduced, v: VertexId) -> bool {
        graph.out_edges(v).any(|e| !self.covered.contains(e))
    }

    /// The uncovered out-edges of `v` and all that is reachable from them, dummies expanded.
    fn find_uncovered_beyond(&self, dag: &Dag, graph: &Reduced, v: VertexId) -> IdSet<EdgeId> {
        let mut edges = dag.edge_set();
        let mut seen = dag.vertex_set();
        let uncovered = graph.out_edges(v).filter(|e| !self.covered.contains(*e));
        let mut stack: Vec<EdgeId> = uncovered.collect();
        while let Some(e) = stack.pop() {
            edges.insert(e);
            let w = dag.edge(e).dst;
            if !seen.put(w) {
                edges.extend(graph.edges_inside(w).iter().copied());
                stack.extend(graph.out_edges(w));
            }
        }
        edges
    }

    /// `rest` with the edges of prefix `p` and the insides of the dummies on its way.
    fn task(
        &self,
        dag: &Dag,
        graph: &Reduced,
        rest: &IdSet<EdgeId>,
        p: Option<u32>,
    ) -> IdSet<EdgeId> {
        let mut edges = rest.clone();
        let mut next = p;
        while let Some(i) = next {
            let Prefix { last, before } = self.prefixes[i as usize];
            edges.insert(last);
            edges.extend(graph.edges_inside(dag.edge(last).dst).iter().copied());
            next = before;
        }
        edges
    }
}
