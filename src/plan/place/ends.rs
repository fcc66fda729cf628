//! Where paths are counted, and where increments cost nothing.

use super::Ground;
use crate::dag::Dag;
use crate::index::{EdgeId, VertexId};
use crate::ir::Cfg;
use fixedbitset::FixedBitSet;

/// Where paths are counted, whatever their ids.
#[derive(Clone, Debug)]
pub struct Ends {
    /// The edges into EXIT whose paths are to be counted; afterwards, the edges on which they are.
    pub counted: FixedBitSet,
    /// The vertices that control may leave before their end, or behind which a path may turn out foreign: no count moves above them, or it
    /// would count a path that is never completed.
    pub may_leave: FixedBitSet,
}

impl Ends {
    /// The ends of the paths of interest. O(V + E).
    pub fn new(ground: &Ground) -> Ends {
        let mut may_leave = may_leave(ground.cfg, ground.dag);
        if let Some(open) = ground.open {
            may_leave.union_with(open);
        }
        Ends {
            counted: counted_ends(ground.dag, ground.interesting),
            may_leave,
        }
    }

    /// The only way out of `v`, if a count on it can as well happen on the ways in.
    pub(super) fn liftable(&self, dag: &Dag, v: VertexId) -> Option<EdgeId> {
        let mut outs = dag.outs(v);
        let only = outs.next().filter(|_| outs.next().is_none())?;
        let counted = self.counted.contains(only.index());
        (counted && v != dag.entry() && !self.may_leave.contains(v.index())).then_some(only)
    }

    /// Moves the count on `only`, the way out of `v`, to the ways in.
    pub(super) fn lift(&mut self, dag: &Dag, v: VertexId, only: EdgeId) {
        self.counted.set(only.index(), false);
        self.counted.extend(dag.ins(v).iter().map(|e| e.index()));
    }

    /// The edges on which an increment costs nothing, because a statement is there anyway or none is needed:
    /// - edges into EXIT, and those to which their counts can be lifted: `count[r + c]++`;
    /// - edges out of vertices that one way leads to from ENTRY, where `r` is known: `r = c`.
    ///
    /// Ball & Larus weigh these edges as all others, so the hottest of them (a loop's back edge is two of them)
    /// stay in the tree, and colder ones inside the loop become chords that cost an addition. O(V + E).
    pub fn free(&self, dag: &Dag) -> FixedBitSet {
        let mut lifted = self.clone();
        let mut free = FixedBitSet::with_capacity(dag.edges().len());
        free.extend(dag.ins(dag.exit()).iter().map(|e| e.index()));
        for v in dag.order().rev().skip(1) {
            if let Some(only) = lifted.liftable(dag, v) {
                lifted.lift(dag, v, only);
            }
        }
        free.union_with(&lifted.counted);
        let mut known = FixedBitSet::with_capacity(dag.vertices());
        known.insert(dag.entry().index());
        for v in dag.order() {
            if let &[only] = dag.ins(v)
                && known.contains(dag.edge(only).src.index())
            {
                known.insert(v.index());
            }
            if known.contains(v.index()) {
                free.extend(dag.outs(v).map(|e| e.index()));
            }
        }
        free
    }
}

/// The last edges of the paths to count: an end that no interesting path has needs no count. O(V + E).
fn counted_ends(dag: &Dag, subset: Option<&FixedBitSet>) -> FixedBitSet {
    let wanted = |e: &EdgeId| subset.is_none_or(|set| set.contains(e.index()));
    let mut reached = FixedBitSet::with_capacity(dag.vertices());
    reached.insert(dag.entry().index());
    for v in dag.order() {
        if reached.contains(v.index()) {
            let on = dag.outs(v).filter(wanted);
            reached.extend(on.map(|e| dag.edge(e).dst.index()));
        }
    }
    let mut counted = FixedBitSet::with_capacity(dag.edges().len());
    let ends = dag.ins(dag.exit()).iter().filter(|e| wanted(e));
    let ends = ends.filter(|e| reached.contains(dag.edge(**e).src.index()));
    counted.extend(ends.map(|e| e.index()));
    counted
}

/// The vertices that control may leave in their middle. O(V).
fn may_leave(cfg: &Cfg, dag: &Dag) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(dag.vertices());
    let leaves = |b| cfg.block(b).may_leave;
    set.extend(
        dag.order()
            .filter(|&v| dag.block(v).is_some_and(leaves))
            .map(|v| v.index()),
    );
    set
}
