//! Static weights (Ball & Larus, *Optimally Profiling and Tracing Programs*, TOPLAS 1994, §4.1;
//! `docs/ALGORITHMS.md` §7).

use super::Weights;
use crate::base::index::{EdgeId, TiVec, VertexId};
use crate::paths::dag::{Dag, EdgeKind, LoopForest};

/// A loop is expected to run this many times per entry.
const LOOP_MULTIPLIER: f64 = 10.0;

/// Keeps weights of deep nests finite and their ratios meaningful.
const MAX_WEIGHT: f64 = 1e30;

/// The static weights of `dag`, which was made from a control flow with these loops. O(E · loop depth).
///
/// In topological order: (1) a block's weight is the sum of its incoming non-back edges; (2) the
/// exits of a loop entered `W` times get `W / n` each; (3) the remaining out-edges of a block
/// share the rest equally, multiplied in a loop header. A back edge weighs what its source
/// sends along it; the phony edge to a header is the sum of the header's back edges.
///
/// An edge that leaves several loops at once counts as an exit of each of them, and takes the
/// share of the innermost, whose blocks it balances.
pub(crate) fn static_weights(dag: &Dag, forest: &LoopForest) -> Weights {
    let mut flow = Weigher {
        dag,
        exits: count_exits(dag, forest),
        forest,
        shares: vec![0.0; forest.parent.len()],
        incoming: dag.by_vertex(0.0),
        weights: dag.by_edge(0.0),
    };
    let enter = dag.entry_edge();
    flow.weights[enter] = 1.0;
    flow.incoming[dag.edge(enter).dst] = 1.0;
    for v in dag.order().filter(|&v| dag.block(v).is_some()) {
        flow.visit(v);
    }
    flow.weights
}

struct Weigher<'a> {
    dag: &'a Dag,
    forest: &'a LoopForest,
    /// The number of exit edges by loop header.
    exits: Vec<u32>,
    /// What each exit edge of a loop gets, by loop header.
    shares: Vec<f64>,
    /// What has arrived at each vertex along forward edges.
    incoming: TiVec<VertexId, f64>,
    weights: Weights,
}

impl Weigher<'_> {
    fn visit(&mut self, v: VertexId) {
        let at = position(v);
        let mut weight = self.incoming[v];
        if self.forest.is_header[at as usize] {
            // Rule 2: whatever enters a loop leaves it, by each exit alike, however often it runs within.
            self.shares[at as usize] = weight / f64::from(self.exits[at as usize].max(1));
            weight *= LOOP_MULTIPLIER;
        }
        let weight = weight.min(MAX_WEIGHT);
        let exits = self.dag.out_edges(v).filter_map(|e| self.exit_share(e));
        let (leaving, n) = exits.fold((0.0, 0), |(sum, n), share| (sum + share, n + 1));
        let others = self.dag.out_degree(v) - n;
        // Exits may take more than a block inside has, where its header guessed low: nothing is left for the others
        // then.
        let rest = (weight - leaving).max(0.0) / others.max(1) as f64;
        for e in self.dag.out_edges(v) {
            self.send(v, e, self.exit_share(e).unwrap_or(rest));
        }
    }

    /// What edge `e` gets as an exit of the innermost loop it leaves, if it leaves one.
    fn exit_share(&self, e: EdgeId) -> Option<f64> {
        left_loops(self.dag, self.forest, e)
            .next()
            .map(|h| self.shares[h as usize])
    }

    fn send(&mut self, v: VertexId, e: EdgeId, weight: f64) {
        self.weights[e] = weight;
        let EdgeKind::BackEdge(_) = self.dag.edge(e).kind else {
            self.incoming[self.dag.edge(e).dst] += weight;
            return;
        };
        let target = self.dag.back_target(e);
        let start = self
            .dag
            .loop_start(target)
            .expect("a back edge has its phony edge");
        self.weights[start] += weight;
        let to = self.dag.edge(start).dst;
        // A cut edge leads forwards, so its target comes later and has to know what arrives; behind a real back edge
        // the header's weight is known already, and the multiplier stands for it.
        if to > v {
            self.incoming[to] += weight; // a cut edge
        }
    }
}

/// The position in reverse postorder of a vertex that stands for a block.
fn position(v: VertexId) -> u32 {
    v.0 - 1
}

/// The number of edges that leave each loop, by header.
fn count_exits(dag: &Dag, forest: &LoopForest) -> Vec<u32> {
    let mut exits = vec![0; forest.parent.len()];
    for e in dag.edge_ids() {
        for header in left_loops(dag, forest, e) {
            exits[header as usize] += 1;
        }
    }
    exits
}

/// The headers of the loops that an edge leaves, innermost first.
fn left_loops<'a>(
    dag: &'a Dag,
    forest: &'a LoopForest,
    e: EdgeId,
) -> impl Iterator<Item = u32> + 'a {
    let edge = dag.edge(e);
    // A back edge stays in the loop of its target, although its DAG edge leads to EXIT.
    let target = match edge.kind {
        EdgeKind::BackEdge(_) => dag.vertex(dag.back_target(e)).map(position),
        EdgeKind::Leave => None,
        _ => Some(position(edge.dst)),
    };
    let source = dag.block(edge.src).map(|_| position(edge.src));
    let around = source.into_iter().flat_map(|s| forest.find_loops_around(s));
    around.take_while(move |&h| !target.is_some_and(|t| forest.loop_contains(h, t)))
}

#[cfg(test)]
mod tests;
