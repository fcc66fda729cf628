//! Random control-flow graphs and walks through them, for property tests.

use crate::base::index::{BlockId, CfgEdge, FuncId, TiSlice};
use crate::input::ir::{Block, Cfg, Terminator};
use crate::paths::dag::{Path, PathEnd, PathStart};
use crate::paths::function::FunctionInput;
use proptest::prelude::*;

/// Makes a CFG from the successors of each block; terminators follow from their number.
pub(crate) fn cfg(succs: &[&[u32]]) -> Cfg {
    Cfg {
        blocks: succs
            .iter()
            .map(|s| block(s.iter().copied(), false))
            .collect(),
    }
}

fn block(succs: impl Iterator<Item = u32>, may_leave: bool) -> Block {
    let succs: Vec<BlockId> = succs.map(BlockId).collect();
    let terminator = match succs.len() {
        0 => Terminator::Return,
        1 => Terminator::Jump,
        2 => Terminator::Branch,
        _ => Terminator::Switch,
    };
    Block {
        instructions: 1,
        may_leave,
        ..Block::with_terminator(terminator, succs)
    }
}

/// The only function of a program, with this control flow, called once.
pub(crate) fn input(cfg: &Cfg) -> FunctionInput<'_> {
    FunctionInput {
        cfg,
        unit: FuncId(0),
        call_sites: 1,
        skip: None,
    }
}

/// Any CFG of up to `max` blocks: parallel edges, self loops, irreducible parts, unreachable
/// blocks, endless loops and deep nests all occur. LLVM's rule that nothing branches to the
/// entry block holds.
pub(crate) fn any_cfg(max: usize) -> impl Strategy<Value = Cfg> {
    (1..=max).prop_flat_map(|n| {
        let hop = prop_oneof![4 => Just(1i64), 3 => 1..4i64, 2 => -4..0i64, 1 => -64..64i64];
        let degree = prop_oneof![2 => Just(0usize), 4 => Just(1), 8 => Just(2), 2 => 3..6usize];
        let one = (degree, proptest::collection::vec(hop, 6), any::<bool>());
        proptest::collection::vec(one, n).prop_map(move |blocks| {
            let make = |(i, (degree, hops, leave)): (usize, (usize, Vec<i64>, bool))| {
                let to = move |h: &i64| (i as i64 + h).clamp(1, n as i64 - 1) as u32;
                let degree = if n == 1 { 0 } else { degree };
                let degree = if i == 0 && n > 1 {
                    degree.max(1)
                } else {
                    degree
                };
                block(
                    hops.into_iter()
                        .take(degree)
                        .map(|h| to(&h))
                        .collect::<Vec<_>>()
                        .into_iter(),
                    leave,
                )
            };
            Cfg {
                blocks: blocks.into_iter().enumerate().map(make).collect(),
            }
        })
    })
}

/// The retreating edges by definition: the target is on the stack of a recursive search.
pub(crate) fn find_retreating_edges(cfg: &Cfg) -> Vec<CfgEdge> {
    fn visit(cfg: &Cfg, b: BlockId, state: &mut TiSlice<BlockId, u8>, found: &mut Vec<CfgEdge>) {
        state[b] = 1;
        for (i, &s) in cfg.block(b).succs.iter().enumerate() {
            match state[s] {
                0 => visit(cfg, s, state, found),
                1 => found.push(CfgEdge {
                    block: b,
                    succ: i as u32,
                }),
                _ => {}
            }
        }
        state[b] = 2;
    }
    let mut found = Vec::new();
    visit(cfg, BlockId(0), &mut cfg.by_block(0), &mut found);
    found.sort_unstable();
    found
}

/// What one activation did: the edges it took, and the block it returned from, if it did.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    /// The edges in order.
    pub edges: Vec<CfgEdge>,
    /// The exit block; `None` when the activation was abandoned.
    pub exit: Option<BlockId>,
}

/// Walks from the entry, choosing successors by `choices` until they run out; an activation
/// that has not returned by then is abandoned in the last block that control may leave in its
/// middle. `None` when there was no such block.
pub(crate) fn walk(cfg: &Cfg, choices: &[u8]) -> Option<Walk> {
    let mut at = BlockId(0);
    let mut edges = Vec::new();
    let mut may_leave = cfg.block(at).may_leave.then_some(0);
    for &c in choices {
        let succs = &cfg.block(at).succs;
        if succs.is_empty() {
            break;
        }
        let succ = c as usize % succs.len();
        edges.push(CfgEdge {
            block: at,
            succ: succ as u32,
        });
        at = succs[succ];
        if cfg.block(at).may_leave {
            may_leave = Some(edges.len());
        }
    }
    let exit = cfg.block(at).succs.is_empty().then_some(at);
    if exit.is_none() {
        edges.truncate(may_leave?);
    }
    Some(Walk { edges, exit })
}

/// The complete paths of a walk, split by definition at the edges in `ends` (sorted).
pub(crate) fn paths_of(cfg: &Cfg, walk: &Walk, ends: &[CfgEdge]) -> Vec<Path> {
    let fresh = |start, at| Path {
        start,
        blocks: vec![at],
        succs: vec![],
        end: PathEnd::Exit,
    };
    let mut paths = Vec::new();
    let mut path = fresh(PathStart::Entry, BlockId(0));
    for &e in &walk.edges {
        let to = cfg.target(e);
        if ends.binary_search(&e).is_ok() {
            path.end = PathEnd::Back(e, to);
            paths.push(std::mem::replace(&mut path, fresh(PathStart::Loop, to)));
        } else {
            path.blocks.push(to);
            path.succs.push(e.succ);
        }
    }
    if walk.exit.is_some() {
        paths.push(path);
    }
    paths
}
