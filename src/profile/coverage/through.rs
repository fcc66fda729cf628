//! Paths through some of a function's blocks: their number, and one by one, without enumerating the others.

use super::Paths;
use crate::dag::Dag;
use crate::index::{BlockId, EdgeId, IdSet, TiVec, VertexId};
use crate::profile::Ran;

/// The paths of a DAG through at least one of some vertices.
pub(super) struct Through<'a> {
    dag: &'a Dag,
    touched: TiVec<VertexId, bool>,
    /// By vertex: the paths from it to EXIT, and those of them through one of the vertices, itself included.
    ways: TiVec<VertexId, (u128, u128)>,
}

impl<'a> Through<'a> {
    /// Those through any of `blocks`. O(V + E).
    pub(super) fn new(dag: &'a Dag, blocks: &IdSet<BlockId>) -> Through<'a> {
        let touches = |v| dag.block(v).is_some_and(|b| blocks.contains(b));
        let touched: TiVec<VertexId, bool> = dag.order().map(touches).collect();
        let mut ways = dag.by_vertex((0, 0));
        ways[dag.exit()] = (1, 0);
        for v in dag.order().rev().filter(|v| *v != dag.exit()) {
            let sum = dag.outs(v).fold((0u128, 0u128), |sum, e| {
                let more = ways[dag.edge(e).dst];
                (sum.0 + more.0, sum.1 + more.1)
            });
            ways[v] = (sum.0, if touched[v] { sum.0 } else { sum.1 });
        }
        Through { dag, touched, ways }
    }

    /// Their number.
    pub(super) fn number(&self) -> u128 {
        self.ways[self.dag.entry()].1
    }

    /// Whether a path is one of them.
    pub(super) fn admits(&self, edges: &[EdgeId]) -> bool {
        edges.iter().any(|e| self.touched[self.dag.edge(*e).dst])
    }

    /// Whether a vertex is one of those.
    pub(super) fn touches(&self, v: VertexId) -> bool {
        self.touched[v]
    }

    /// How many of them ran, and how many there are. O(total path length).
    pub(super) fn paths(&self, executed: &[Ran]) -> Paths {
        let ran = executed.iter().filter(|path| self.admits(&path.edges));
        Paths {
            executed: ran.count() as u128,
            feasible: self.number(),
        }
    }

    /// Number `n` of them, in an order that does not matter. O(path length × degree).
    pub(super) fn nth(&self, mut n: u128) -> Option<Vec<EdgeId>> {
        if n >= self.number() {
            return None;
        }
        let (mut at, mut been, mut edges) = (self.dag.entry(), false, Vec::new());
        while at != self.dag.exit() {
            been |= self.touched[at];
            let mut outs = self.dag.outs(at);
            let next = outs.find(|e| {
                let (all, through) = self.ways[self.dag.edge(*e).dst];
                let here = if been { all } else { through };
                let found = n < here;
                n -= if found { 0 } else { here };
                found
            });
            let next = next.expect("the ways out add up to those of the vertex");
            edges.push(next);
            at = self.dag.edge(next).dst;
        }
        Some(edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbering::enumerate;
    use crate::paths::FunctionPaths;
    use crate::random_cfg::any_cfg;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// By enumeration: the same paths, each once.
        #[test]
        fn as_by_enumeration(graph in any_cfg(9), chosen in proptest::collection::vec(any::<bool>(), 9)) {
            let paths = FunctionPaths::new(&graph);
            let all = enumerate(&paths.dag);
            prop_assume!(all.len() < 500);
            let mut blocks = IdSet::with_capacity(graph.len());
            blocks.extend((0..graph.len()).filter(|b| chosen[b % 9]).map(BlockId::new));
            let through = Through::new(&paths.dag, &blocks);
            let touches = |edges: &&Vec<EdgeId>| {
                let path = paths.dag.path(edges);
                path.blocks.iter().any(|b| blocks.contains(*b))
            };
            let expected: BTreeSet<Vec<EdgeId>> = all.iter().filter(touches).cloned().collect();
            let found: BTreeSet<Vec<EdgeId>> = (0..).map_while(|n| through.nth(n)).collect();
            prop_assert_eq!(through.number(), expected.len() as u128);
            prop_assert!(expected.iter().all(|e| through.admits(e)));
            prop_assert_eq!(found, expected);
        }
    }
}
