//! Iterations apart: an innermost loop in two versions (`docs/ALGORITHMS.md` §8).
//!
//! At a loop's header the path register is a φ of two things: the id so far of the path that entered the loop, and
//! the constant with which paths begin that the back edge starts. So nothing is known of it in the body, although
//! two thirds of all paths begin at a header. Of the two versions made here, the first runs the path that entered
//! the loop, up to its back edge; the second runs all paths that begin at the header:
//!
//! ```text
//!        │                    │
//!    ┌─▶ h                    h₀ ──▶ …                h₀, b₀: the entering path
//!    │   │ ╲                  │
//!    │   b  …      ══▶        b₀
//!    └───┘                    ╰────▶ h₁ ──▶ …         h₁, b₁: paths that begin at h
//!                                 ┌─▶│
//!                                 │  b₁
//!                                 └──┘
//! ```
//!
//! In the second version the register starts as a constant, ids are those of this one start, and a loop with a
//! single path needs no register at all.

use super::{Versions, can_be_copied, weight};
use crate::dag::{LoopForest, Order, loop_forest};
use crate::index::{BlockId, CfgEdge};
use crate::ir::Cfg;

/// A loop with more instructions than this stays as it is: what a path costs is little beside what it does.
const MAX_LOOP: u32 = 256;

/// Copies may make a function larger by half (plus what a small loop takes).
const MAX_GROWTH: u32 = 2;

/// The automaton of iterations apart: its state is the version that control is in.
pub struct Apart<'a> {
    cfg: &'a Cfg,
    order: Order,
    forest: LoopForest,
    /// By position in reverse postorder: the header of the only loop around a block that is looked at.
    chosen: Vec<bool>,
}

/// The headers, ascending, of the loops that are worth a second version: innermost and reducible ones, the smallest
/// first as long as the function does not grow too much. None in functions whose
/// blocks cannot be copied ([`can_be_copied`]). `cuts`, sorted, end paths too. Near-linear.
pub fn choose(cfg: &Cfg, cuts: &[CfgEdge]) -> Vec<BlockId> {
    let order = Order::new(cfg);
    if !can_be_copied(cfg, &order) {
        return Vec::new();
    }
    let forest = loop_forest(cfg, &order);
    let sizes = sizes(cfg, cuts, &order, &forest);
    let total: u32 = order.rpo.iter().map(|&b| weight(cfg.block(b))).sum();
    let mut headers: Vec<(u32, BlockId)> = Vec::new();
    for (at, &b) in order.rpo.iter().enumerate() {
        if let Some(size) = sizes[at].filter(|&s| s <= MAX_LOOP) {
            headers.push((size, b));
        }
    }
    headers.sort_unstable();
    let mut room = MAX_LOOP.max(total / MAX_GROWTH);
    headers.retain(|&(size, _)| {
        let fits = size <= room;
        room -= if fits { size } else { 0 };
        fits
    });
    let mut headers: Vec<BlockId> = headers.into_iter().map(|(_, b)| b).collect();
    headers.sort_unstable();
    headers
}

/// By position: the instructions of the loop that a block heads, where it is innermost and its header the only way
/// in, and no cut edge leads into it: a path would begin in either version.
fn sizes(cfg: &Cfg, cuts: &[CfgEdge], order: &Order, forest: &LoopForest) -> Vec<Option<u32>> {
    let n = order.rpo.len();
    let mut sizes: Vec<Option<u32>> = (0..n).map(|at| forest.is_header[at].then_some(0)).collect();
    for (at, &b) in order.rpo.iter().enumerate() {
        let home = forest.loop_of(at as u32);
        if let Some(size) = home.and_then(|h| sizes[h as usize].as_mut()) {
            *size = size.saturating_add(weight(cfg.block(b)));
        }
        // A loop inside another: the outer one is not innermost.
        if forest.is_header[at]
            && let Some(outer) = forest.parent[at]
        {
            sizes[outer as usize] = None;
        }
        for (i, to) in cfg.block(b).succs.iter().enumerate() {
            let succ = i as u32;
            let is_cut = cuts.binary_search(&CfgEdge { block: b, succ }).is_ok();
            let to = order.position[to.index()].expect("successor of a reachable block");
            if let Some(h) = forest.loop_of(to)
                && (is_cut || h != to && home != Some(h))
            {
                sizes[h as usize] = None; // a cut, or a second way in
            }
        }
    }
    sizes
}

impl<'a> Apart<'a> {
    /// With the iterations of the loops at `headers` apart; `None` when one of them is not the header of an innermost,
    /// reducible loop. `cuts`, sorted, end paths too. Near-linear.
    pub fn new(cfg: &'a Cfg, cuts: &[CfgEdge], headers: &[BlockId]) -> Option<Apart<'a>> {
        let order = Order::new(cfg);
        let forest = loop_forest(cfg, &order);
        let sizes = sizes(cfg, cuts, &order, &forest);
        let mut chosen = vec![false; order.rpo.len()];
        for h in headers {
            let at = (*order.position.get(h.index())?)? as usize;
            sizes[at]?;
            chosen[at] = true;
        }
        Some(Apart {
            cfg,
            order,
            forest,
            chosen,
        })
    }

    /// The control flow with iterations apart.
    pub fn versions(&self) -> Versions {
        Versions::product(self.cfg, 0, |version, e| self.next(version, e)).versions
    }

    /// The version behind edge `e` taken in `version`; 0 at the entry. Version 1 behind a back edge, and from there to
    /// the end of the loop.
    pub fn next(&self, version: u32, e: CfgEdge) -> u32 {
        let to = self.cfg.block(e.block).succs[e.succ as usize];
        let (Some(here), Some(there)) = (self.chosen_loop(e.block), self.chosen_loop(to)) else {
            return 0;
        };
        let stays = here == there;
        let begins_path = self.order.is_retreating(e.block, to);
        u32::from(stays && (version == 1 || begins_path))
    }

    /// The chosen loop that holds block `b`.
    fn chosen_loop(&self, b: BlockId) -> Option<u32> {
        let at = self.order.position[b.index()]?;
        self.forest.loop_of(at).filter(|&h| self.chosen[h as usize])
    }
}
