//! Functions in versions: some blocks several times, between which control passes on chosen edges.
//!
//! The versioned control flow is a [`Cfg`] of its own, with its own DAG; numbering, placement and emission need
//! not know that some of its blocks are copies. [`Versions::origin`] leads back: a walk through the versioned
//! blocks, each replaced by its origin, is a walk through the function, and the only one of the versioned walks
//! from the entry that is (successors keep their ordinals).
//!
//! [`apart`] makes the versions that take a loop's iterations apart.

pub(crate) mod apart;

#[cfg(test)]
mod tests;

use crate::base::index::{BlockId, CfgEdge, EdgeId, TiSlice, TiVec};
use crate::input::ir::{Block, Cfg, Terminator};
use crate::paths::dag::{Dag, EdgeKind, Order};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::hash::Hash;

/// The code that a copy of the block takes, in instructions.
pub(crate) fn weight(block: &Block) -> u32 {
    block.instructions.max(1)
}

/// The code that all blocks take which can be reached. O(V).
pub(crate) fn size(cfg: &Cfg, order: &Order) -> u64 {
    let blocks = order.rpo.iter().map(|&b| cfg.block(b));
    blocks.map(|b| u64::from(weight(b))).sum()
}

/// A state of an automaton over the edges of a control flow.
pub trait State: Copy + Eq + Hash {}

impl<S: Copy + Eq + Hash> State for S {}

/// A product of a control flow and an automaton.
#[derive(Clone, Debug)]
pub struct Product<S> {
    /// The blocks in versions.
    pub versions: Versions,
    /// By block of the versions: the state in which control is there; `None` where it never is.
    pub states: TiVec<BlockId, Option<S>>,
}

/// A control-flow graph in which some blocks of another one exist several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The versioned control flow: first all blocks of the function in their order, then their further versions.
    pub cfg: Cfg,
    /// By block of `cfg`: the function's block that it is a version of.
    pub origin: TiVec<BlockId, BlockId>,
    /// Those that can be reached, as their origins are ordered: only edges that end paths go against it. (A depth-first
    /// search of the versions may enter loops elsewhere than at the versions of their headers.)
    pub order: Order,
}

/// Whether blocks of a function may be copied, and edges led to the copies: not with `callbr`, funclets, calls that
/// return twice or must stay single, or an `indirectbr` to addresses that are not all known. What cannot be reached
/// does not matter. O(V).
pub(crate) fn can_be_copied(cfg: &Cfg, order: &Order) -> bool {
    !order.rpo.iter().any(|&b| is_fixed(cfg.block(b)))
}

fn is_fixed(block: &Block) -> bool {
    let jumps_anywhere = block.terminator == Terminator::IndirectBr && !block.known_labels;
    block.returns_twice || jumps_anywhere || has_no_copy(block)
}

/// Whether versions pay that lead to each other on many edges, as those of hot paths and selections do: not with an
/// `indirectbr`. Its edges cannot be split, so what differs between its versions is moved to where any of its targets
/// expects it in front of each jump. (The versions that [`apart`] makes hardly meet again.) O(V).
pub(crate) fn may_meet(cfg: &Cfg, order: &Order) -> bool {
    let jumps = |b: &BlockId| cfg.block(*b).terminator == Terminator::IndirectBr;
    can_be_copied(cfg, order) && !order.rpo.iter().any(jumps)
}

/// Whether there must be no copy of the block, not even in another function.
pub(crate) fn has_no_copy(block: &Block) -> bool {
    use Terminator::*;
    block.single || matches!(block.terminator, CallBr | Funclet)
}

impl Versions {
    /// The product of `cfg` and a deterministic automaton over its edges, which is in state `first` at the entry and in
    /// state `next(s, e)` behind edge `e` taken in state `s`: a block in as many versions as there are states in which
    /// control can reach it. Edges that cannot be told apart lead to one version. The first of them that a
    /// breadth-first search finds takes the block's place. O(V + E) of the result.
    ///
    /// `order` is that of `cfg`.
    pub fn product<S: State>(
        cfg: &Cfg,
        order: &Order,
        first: S,
        next: impl Fn(S, CfgEdge) -> S,
    ) -> Product<S> {
        Versions::product_led(cfg, order, first, |state, edge| {
            (cfg.target(edge), next(state, edge))
        })
    }

    /// The product of `cfg` and an automaton that also chooses the block that an edge leads to. It may only lead past
    /// blocks that do nothing: a walk through the versions is one through the function without these.
    pub(crate) fn product_led<S: State>(
        cfg: &Cfg,
        order: &Order,
        first: S,
        next: impl Fn(S, CfgEdge) -> (BlockId, S),
    ) -> Product<S> {
        let homes = find_home_states(cfg, first, &next);
        let mut builder = Builder {
            ids: FxHashMap::default(),
            made: cfg.ids().zip(homes.iter().copied()).collect(),
            homes,
        };
        let mut blocks = TiVec::with_capacity(cfg.len());
        while let Some(&(origin, state)) = builder.made.get(blocks.len()) {
            let mut block = cfg.block(origin).clone();
            if let Some(state) = state {
                for (to, (edge, _)) in block.succs.iter_mut().zip(cfg.distinct_edges(origin)) {
                    let (led, state) = next(state, edge);
                    *to = builder.id(led, state);
                }
            }
            blocks.push(block);
        }
        let (origin, states): (TiVec<_, _>, TiVec<_, _>) = builder.made.into_iter().unzip();
        let order = inherit_order(order, &origin, &states);
        let cfg = Cfg { blocks };
        Product {
            versions: Versions { cfg, origin, order },
            states,
        }
    }

    /// The edge of the function that versioned edge `e` is a version of.
    pub fn origin_of(&self, e: CfgEdge) -> CfgEdge {
        CfgEdge {
            block: self.origin[e.block],
            succ: e.succ,
        }
    }

    /// Their DAG, whose paths are those of the function: they end at its edges that retreat in `own`, the order of the
    /// function's own blocks, and at `cuts` (sorted), in all versions. O(E log E).
    pub fn dag(&self, own: &Order, cuts: &[CfgEdge]) -> Dag {
        Dag::in_order(&self.cfg, &self.order, &self.path_ends(own, cuts))
    }

    /// The versions of the edges that end paths in the function's own control flow; sorted. O(E log E).
    pub fn path_ends(&self, own: &Order, cuts: &[CfgEdge]) -> Vec<CfgEdge> {
        let mut ends = Vec::new();
        for &block in &self.order.rpo {
            for (succ, &to) in (0..).zip(&self.cfg.block(block).succs) {
                let edge = CfgEdge { block, succ };
                if own.ends_path(cuts, self.origin_of(edge), self.origin[to]) {
                    ends.push(edge);
                }
            }
        }
        ends.sort_unstable();
        ends
    }

    /// By edge of `dag`, the DAG of the versioned control flow: the edge of the function's own DAG. O(V + E · degree).
    ///
    /// # Panics
    /// When the two do not end paths at the same edges.
    pub fn dag_origins(&self, dag: &Dag, own: &Dag) -> TiVec<EdgeId, EdgeId> {
        let origin = |e: EdgeId| {
            let edge = dag.edge(e);
            match edge.kind {
                EdgeKind::Enter => own.out_edges(own.entry()).next(),
                EdgeKind::LoopStart => {
                    let header = dag.block(edge.dst).expect("a header is a block");
                    own.loop_start(self.origin[header])
                }
                EdgeKind::Real(c) | EdgeKind::BackEdge(c) => own.edge_of(self.origin_of(c)),
                EdgeKind::Leave => {
                    let block = dag.block(edge.src).expect("an exit is a block");
                    let own_block = own.vertex(self.origin[block]);
                    own_block.and_then(|v| own.out_edges(v).next())
                }
            }
        };
        dag.edge_ids()
            .map(|e| origin(e).expect("paths end at the same edges"))
            .collect()
    }
}

/// By block of `cfg`: the state in which a breadth-first search of the product finds it first.
fn find_home_states<S: State>(
    cfg: &Cfg,
    first: S,
    next: &impl Fn(S, CfgEdge) -> (BlockId, S),
) -> TiVec<BlockId, Option<S>> {
    let mut homes = cfg.by_block(None);
    let mut seen = FxHashSet::from_iter([(BlockId(0), first)]);
    let mut queue = VecDeque::from([(BlockId(0), first)]);
    while let Some((block, state)) = queue.pop_front() {
        homes[block].get_or_insert(state);
        for (edge, _) in cfg.distinct_edges(block) {
            let reached = next(state, edge);
            if seen.insert(reached) {
                queue.push_back(reached);
            }
        }
    }
    homes
}

/// The blocks that can be reached, as their origins are ordered in `own`.
fn inherit_order<S>(
    own: &Order,
    origin: &TiSlice<BlockId, BlockId>,
    states: &TiSlice<BlockId, Option<S>>,
) -> Order {
    let mut reached: Vec<BlockId> = origin.keys().filter(|b| states[*b].is_some()).collect();
    reached.sort_by_key(|b| own.position[origin[*b]]);
    Order::from_topological(reached, origin.len())
}

struct Builder<S> {
    /// By block of the function: the state of the version in its place.
    homes: TiVec<BlockId, Option<S>>,
    /// The number of each other version.
    ids: FxHashMap<(BlockId, S), BlockId>,
    made: Vec<(BlockId, Option<S>)>,
}

impl<S: State> Builder<S> {
    fn id(&mut self, block: BlockId, state: S) -> BlockId {
        if self.homes[block] == Some(state) {
            return block;
        }
        let made = &mut self.made;
        *self.ids.entry((block, state)).or_insert_with(|| {
            made.push((block, Some(state)));
            BlockId::new(made.len() - 1)
        })
    }
}
