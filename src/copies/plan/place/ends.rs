//! Where paths are counted, and where increments cost nothing.

use super::CountCosts;
use crate::base::index::{EdgeId, IdSet, TiSlice, TiVec, VertexId};
use crate::copies::plan::ids::Ground;
use crate::paths::dag::Dag;

/// Where paths are counted, whatever their ids.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    /// The edges into EXIT whose paths are to be counted; afterwards, the edges on which they are.
    pub counted: IdSet<EdgeId>,
    /// The vertices that control may leave before their end, or behind which a path may turn out foreign: no count
    /// moves above them, or it would count a path that is never completed.
    pub may_leave: IdSet<VertexId>,
}

impl Ends {
    /// The ends of the paths of interest. O(V + E).
    pub(crate) fn new(ground: &Ground) -> Ends {
        let mut may_leave = ground.dag.find_vertices(|b| ground.cfg.block(b).may_leave);
        if let Some(open) = ground.open {
            may_leave.union_with(open);
        }
        Ends {
            counted: counted_ends(ground.dag, ground.interesting),
            may_leave,
        }
    }

    /// The only way out of `v`, if a count on it can as well happen on the ways in.
    pub(super) fn find_liftable(&self, dag: &Dag, v: VertexId) -> Option<EdgeId> {
        let mut outs = dag.out_edges(v);
        let only = outs.next().filter(|_| outs.next().is_none())?;
        let counted = self.counted.contains(only);
        (counted && v != dag.entry() && !self.may_leave.contains(v)).then_some(only)
    }

    /// Moves the count on `only`, the way out of `v`, to the ways in.
    pub(super) fn lift_count(&mut self, dag: &Dag, v: VertexId, only: EdgeId) {
        self.counted.set(only, false);
        self.counted.extend(dag.ins(v).iter().copied());
    }

    /// What an increment on each edge would cost, where a statement costs its edge's weight:
    /// - nothing on edges out of vertices that one way leads to from ENTRY, where `r` is known: `r = c`;
    /// - nothing on edges into EXIT, and those on the way of their counts when they are lifted, if constants of counts
    ///   cost nothing there: `count[r + c]++`.
    ///
    /// To Ball & Larus, such edges cost as much as others, so the hottest of them (a loop's back edge is two of them)
    /// stay in the tree, and colder ones inside the loop become chords. O(V + E).
    pub(crate) fn costs_of_increments(
        &self,
        dag: &Dag,
        weights: &TiSlice<EdgeId, f64>,
        counts: &CountCosts,
    ) -> TiVec<EdgeId, f64> {
        let mut costs = weights.to_owned();
        let mut lifted = self.clone();
        let mut counting = dag.ins(dag.exit()).to_vec();
        for v in dag.order_from_exit() {
            if let Some(only) = lifted.find_liftable(dag, v) {
                lifted.lift_count(dag, v, only);
                counting.extend(dag.ins(v));
            }
        }
        for e in counting {
            if counts.are_constants_free(e) {
                costs[e] = 0.0;
            }
        }
        let mut known = dag.vertex_set();
        known.insert(dag.entry());
        for v in dag.order() {
            if let &[only] = dag.ins(v)
                && known.contains(dag.edge(only).src)
            {
                known.insert(v);
            }
            if known.contains(v) {
                for e in dag.out_edges(v) {
                    costs[e] = 0.0;
                }
            }
        }
        costs
    }
}

/// The last edges of the paths to count: an end that no interesting path has needs no count. O(V + E).
fn counted_ends(dag: &Dag, subset: Option<&IdSet<EdgeId>>) -> IdSet<EdgeId> {
    let wanted = |e: &EdgeId| subset.is_none_or(|set| set.contains(*e));
    let mut reached = dag.vertex_set();
    reached.insert(dag.entry());
    for v in dag.order() {
        if reached.contains(v) {
            let on = dag.out_edges(v).filter(wanted);
            reached.extend(on.map(|e| dag.edge(e).dst));
        }
    }
    let mut counted = dag.edge_set();
    let ends = dag.ins(dag.exit()).iter().filter(|e| wanted(e));
    let ends = ends.filter(|e| reached.contains(dag.edge(**e).src));
    counted.extend(ends.copied());
    counted
}
