//! Paths through some of a function's blocks and around others: their number, and one by one, without enumerating the
//! rest.

use super::Paths;
use crate::base::index::{BlockId, EdgeId, IdSet, TiVec, VertexId};
use crate::paths::dag::{Dag, Edge};
use crate::profile::Ran;

/// The paths of a DAG through at least one of some vertices and none of others.
pub(super) struct Through<'a> {
    dag: &'a Dag,
    touched: TiVec<VertexId, bool>,
    around: TiVec<VertexId, bool>,
    /// By vertex: the paths from it to EXIT that lead around those, and those of them through one of the vertices,
    /// itself included.
    ways: TiVec<VertexId, (u128, u128)>,
    /// Only paths whose edges are all among these, if not all are counted.
    inside: Option<IdSet<EdgeId>>,
}

impl<'a> Through<'a> {
    /// Those through any of `blocks`, or all if there are none to go through, and through none of `excluded`. O(V + E).
    pub(super) fn new(
        dag: &'a Dag,
        blocks: Option<&IdSet<BlockId>>,
        excluded: &IdSet<BlockId>,
    ) -> Through<'a> {
        Through::paths_inside(dag, blocks, excluded, None)
    }

    /// Those of them whose edges are all `inside` a set. O(V + E).
    pub(super) fn paths_inside(
        dag: &'a Dag,
        blocks: Option<&IdSet<BlockId>>,
        excluded: &IdSet<BlockId>,
        inside: Option<IdSet<EdgeId>>,
    ) -> Through<'a> {
        let among = |v, blocks: &IdSet<BlockId>| dag.block(v).is_some_and(|b| blocks.contains(b));
        let touches = |v| blocks.is_none_or(|blocks| among(v, blocks));
        let touched: TiVec<VertexId, bool> = dag.order().map(touches).collect();
        let around: TiVec<VertexId, bool> = dag.order().map(|v| among(v, excluded)).collect();
        let mut ways = dag.by_vertex((0, 0));
        ways[dag.exit()] = (1, u128::from(touched[dag.exit()]));
        let open = |v: &VertexId| *v != dag.exit() && !around[*v];
        for v in dag.order().rev().filter(open) {
            let is_inside = |e: &EdgeId| inside.as_ref().is_none_or(|set| set.contains(*e));
            let sum = dag
                .out_edges(v)
                .filter(is_inside)
                .fold((0u128, 0u128), |sum, e| {
                    let more = ways[dag.edge(e).dst];
                    (sum.0 + more.0, sum.1 + more.1)
                });
            ways[v] = (sum.0, if touched[v] { sum.0 } else { sum.1 });
        }
        Through {
            dag,
            touched,
            around,
            ways,
            inside,
        }
    }

    /// Whether it takes part in paths that are counted.
    fn is_inside(&self, e: EdgeId) -> bool {
        self.inside.as_ref().is_none_or(|set| set.contains(e))
    }

    /// Their number.
    pub(super) fn number(&self) -> u128 {
        self.ways[self.dag.entry()].1
    }

    /// Whether a path is one of them.
    pub(super) fn admits_path(&self, edges: &[EdgeId]) -> bool {
        let mut vertices = edges.iter().map(|e| self.dag.edge(*e).dst);
        let around = vertices.clone().any(|v| self.around[v]);
        let is_inside = edges.iter().all(|e| self.is_inside(*e));
        is_inside && !around && vertices.any(|v| self.touched[v])
    }

    /// Whether a pair of edges is of interest: they meet at one of the vertices, and lead around the others.
    pub(super) fn admits_pair(&self, into: Edge, out: Edge) -> bool {
        self.touched[out.src] && ![into.src, out.src, out.dst].iter().any(|v| self.around[*v])
    }

    /// Whether an edge leads around the vertices that are to be left out, and where it comes from and leads to pairs
    /// count.
    pub(super) fn open(&self, edge: Edge) -> bool {
        !self.around[edge.src] && !self.around[edge.dst]
    }

    /// Whether pairs that meet at a vertex count.
    pub(super) fn touches_pairs(&self, v: VertexId) -> bool {
        self.touched[v]
    }

    /// How many of them ran, and how many there are. O(total path length).
    pub(super) fn paths(&self, executed: &[Ran]) -> Paths {
        let ran = executed.iter().filter(|path| self.admits_path(&path.edges));
        Paths {
            executed: ran.count() as u128,
            feasible: self.number(),
        }
    }

    /// Number `n` of them, in an order that does not matter. O(path length × degree).
    pub(super) fn nth_path(&self, mut n: u128) -> Option<Vec<EdgeId>> {
        if n >= self.number() {
            return None;
        }
        let (mut at, mut been, mut edges) = (self.dag.entry(), false, Vec::new());
        while at != self.dag.exit() {
            been |= self.touched[at];
            let mut outs = self.dag.out_edges(at).filter(|e| self.is_inside(*e));
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
    use crate::paths::function::Measuring;
    use crate::paths::numbering::enumerate;
    use crate::paths::random_cfg::any_cfg;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// By enumeration: the same paths, each once.
        #[test]
        fn as_by_enumeration(
            graph in any_cfg(9),
            chosen in proptest::collection::vec(any::<bool>(), 9),
            left_out in proptest::collection::vec(proptest::bool::weighted(0.1), 9),
            everywhere in any::<bool>(),
        ) {
            let paths = Measuring::from_cfg(&graph);
            let all = enumerate(&paths.dag);
            prop_assume!(all.len() < 500);
            let mut blocks = IdSet::with_capacity(graph.len());
            blocks.extend((0..graph.len()).filter(|b| chosen[b % 9]).map(BlockId::new));
            let mut excluded = IdSet::with_capacity(graph.len());
            excluded.extend((0..graph.len()).filter(|b| left_out[b % 9]).map(BlockId::new));
            let through = Through::new(&paths.dag, (!everywhere).then_some(&blocks), &excluded);
            let touches = |edges: &&Vec<EdgeId>| {
                let path = paths.dag.path(edges);
                let any = |of: &IdSet<BlockId>| path.blocks.iter().any(|b| of.contains(*b));
                !any(&excluded) && (everywhere || any(&blocks))
            };
            let expected: BTreeSet<Vec<EdgeId>> = all.iter().filter(touches).cloned().collect();
            let found: BTreeSet<Vec<EdgeId>> = (0..).map_while(|n| through.nth_path(n)).collect();
            prop_assert_eq!(through.number(), expected.len() as u128);
            prop_assert!(expected.iter().all(|e| through.admits_path(e)));
            prop_assert_eq!(found, expected);
        }
    }
}
