//! Maximum spanning tree and event counting: fewer, colder probes with the same path ids.
//!
//! Source: Ball & Larus 1996, §3.3–3.4; Ball, *Efficiently Counting Program Events*, TOPLAS 1994;
//! Knuth & Stevenson 1973 (`docs/ALGORITHMS.md` §3).

use crate::base::index::{EdgeId, IdSet, TiSlice, TiVec, VertexId};
use crate::paths::dag::Dag;
use petgraph::unionfind::UnionFind;

#[cfg(test)]
mod tests;

/// The edges of a maximum spanning tree (Kruskal) over the vertices of `dag` and `edges`, heaviest first, whose
/// two ends `ends` gives. An edge between the two of `root` is in the tree, and not in the result. O(E α(V)).
pub(crate) fn maximum_tree(
    dag: &Dag,
    edges: impl IntoIterator<Item = EdgeId>,
    root: (u32, u32),
    ends: impl Fn(EdgeId) -> (u32, u32),
) -> IdSet<EdgeId> {
    let mut parts = UnionFind::<u32>::new(dag.vertices());
    // Joined first, so that no edge that closes a cycle with it gets into the tree: EXIT → ENTRY has no code to count
    // in.
    parts.union(root.0, root.1);
    let mut tree = dag.edge_set();
    for e in edges {
        let (from, to) = ends(e);
        // Kruskal: the heaviest edge that closes no cycle runs without a probe.
        if parts.union(from, to) {
            tree.insert(e);
        }
    }
    tree
}

/// `edges` by descending weight; ties stay in order.
pub(crate) fn heaviest_first(
    edges: impl Iterator<Item = EdgeId>,
    weights: &TiSlice<EdgeId, f64>,
) -> Vec<EdgeId> {
    let mut order: Vec<EdgeId> = edges.collect();
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    order
}

/// A spanning tree of a DAG with the edge EXIT → ENTRY added; that edge is in the tree.
#[derive(Clone, Debug)]
pub(crate) struct SpanningTree {
    /// The DAG edges in the tree; all others are chords.
    pub tree: IdSet<EdgeId>,
}

impl SpanningTree {
    /// A tree of maximum weight (Kruskal); ties by edge id. O(E log E).
    pub(crate) fn maximum(dag: &Dag, weights: &TiSlice<EdgeId, f64>) -> SpanningTree {
        let order = heaviest_first(dag.edge_ids(), weights);
        let ends = |e| (dag.edge(e).src.0, dag.edge(e).dst.0);
        let root = (dag.entry().0, dag.exit().0);
        SpanningTree {
            tree: maximum_tree(dag, order, root, ends),
        }
    }

    /// The increments that keep every path's id with probes on chords only: `inc(c)` is the
    /// signed sum of `labels` around the cycle that chord `c` closes; 0 on tree edges. O(V + E).
    ///
    /// With the potential `p(v)` = signed sum of labels on the tree walk from ENTRY to `v`, the
    /// cycle sum of `u → w` is `label + p(u) − p(w)`; EXIT → ENTRY has label 0. Arithmetic wraps:
    /// the sum along a whole path is exact all the same.
    pub(crate) fn increments(
        &self,
        dag: &Dag,
        labels: &TiSlice<EdgeId, u64>,
    ) -> TiVec<EdgeId, i64> {
        let potential = self.potentials(dag, labels);
        let inc = |e: EdgeId| {
            let edge = dag.edge(e);
            let (p, q) = (potential[edge.src], potential[edge.dst]);
            (labels[e] as i64).wrapping_add(p).wrapping_sub(q)
        };
        dag.edge_ids()
            .map(|e| if self.tree.contains(e) { 0 } else { inc(e) })
            .collect()
    }

    fn potentials(&self, dag: &Dag, labels: &TiSlice<EdgeId, u64>) -> TiVec<VertexId, i64> {
        let mut potential: TiVec<VertexId, Option<i64>> = dag.by_vertex(None);
        // EXIT → ENTRY is in the tree and has label 0, so both ends have potential 0.
        let mut stack = vec![dag.entry(), dag.exit()];
        potential[dag.entry()] = Some(0);
        potential[dag.exit()] = Some(0);
        while let Some(v) = stack.pop() {
            let p = potential[v].expect("visited");
            let mut reach = |w: VertexId, value: i64| {
                if potential[w].replace(value).is_none() {
                    stack.push(w);
                }
            };
            let tree = |e: &EdgeId| self.tree.contains(*e);
            for e in dag.out_edges(v).filter(tree) {
                reach(dag.edge(e).dst, p.wrapping_add(labels[e] as i64));
            }
            // The tree has no directions: against an edge, its label counts negatively.
            for &e in dag.ins(v).iter().filter(|e| tree(e)) {
                reach(dag.edge(e).src, p.wrapping_sub(labels[e] as i64));
            }
        }
        potential
            .into_iter()
            .map(|p| p.expect("a spanning tree reaches every vertex"))
            .collect()
    }
}
