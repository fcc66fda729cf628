//! Cut edges: keeping the number of paths within 64-bit ids (`docs/ALGORITHMS.md` §1).

use super::order::{Order, Shape};
use crate::base::index::{BlockId, CfgEdge, TiVec};
use crate::input::ir::Cfg;

/// No DAG numbers more paths than this: ids and sums of labels then fit 63 bits. Only a function with more is cut.
pub(crate) const MAX_PATHS: u64 = 1 << 62;

/// The edges of `cfg`, of this shape, to cut so that at most `max_paths` paths remain, sorted; empty when none is
/// needed.
///
/// Whether more than `max_paths` paths begin anywhere, at the entry or behind a back edge, decides. Then one pass in
/// reverse topological order, O(V + E): a block may have at most `max_paths / (V + 1)` paths to EXIT, since every
/// target of a cut is one more start of paths. Few: a block with one successor is cut early, while it is the waist
/// below a whole series of branches, and a block over the limit is cut on its heavy edges only. Cold: the first half of
/// the margin is reserved for waists outside loops.
///
/// # Panics
/// When `max_paths` is less than 4 × (V + 1) × (largest out-degree): no such function is loadable.
pub(crate) fn choose_cuts(cfg: &Cfg, shape: &Shape, max_paths: u64) -> Vec<CfgEdge> {
    if paths_at_most(cfg, &shape.order, max_paths) {
        return Vec::new();
    }
    cuts_by_block(cfg, shape, max_paths / (shape.order.rpo.len() as u64 + 1))
}

/// The edges to cut so that no block has more than `limit` paths to EXIT.
pub(super) fn cuts_by_block(cfg: &Cfg, shape: &Shape, limit: u64) -> Vec<CfgEdge> {
    Cutter {
        cfg,
        shape,
        limit,
        paths: cfg.by_block(0),
    }
    .run()
}

/// Whether `cfg` has at most `max_paths` paths without any cut: as many as its DAG, where they begin at the entry and
/// at each target of back edges.
fn paths_at_most(cfg: &Cfg, order: &Order, max_paths: u64) -> bool {
    let mut paths = cfg.by_block(0u64);
    let mut starts = cfg.by_block(false);
    for &b in order.rpo.iter().rev() {
        let mut n = 0u64;
        for (e, to) in edges(cfg, order, b) {
            n = n.saturating_add(to.map_or(1, |t| paths[t]));
            if to.is_none() {
                starts[cfg.block(b).succs[e.succ as usize]] = true;
            }
        }
        paths[b] = n.max(1);
    }
    let behind = paths.iter_enumerated().filter(|(b, _)| starts[*b]);
    let all = behind.fold(paths[BlockId(0)], |all, (_, n)| all.saturating_add(*n));
    all <= max_paths
}

/// The taken edges of `b`, with the target for those that do not end a path already.
fn edges<'a>(
    cfg: &'a Cfg,
    order: &'a Order,
    b: BlockId,
) -> impl Iterator<Item = (CfgEdge, Option<BlockId>)> + 'a {
    let taken = cfg.taken_edges(b);
    taken.map(move |(edge, to)| (edge, (!order.is_retreating(b, to)).then_some(to)))
}

struct Cutter<'a> {
    cfg: &'a Cfg,
    shape: &'a Shape,
    limit: u64,
    /// Paths from each block to EXIT, given the cuts so far.
    paths: TiVec<BlockId, u64>,
}

impl Cutter<'_> {
    fn run(mut self) -> Vec<CfgEdge> {
        let mut cuts = Vec::new();
        for &b in self.shape.order.rpo.iter().rev() {
            self.visit(b, &mut cuts);
        }
        cuts.sort_unstable();
        cuts
    }

    fn visit(&mut self, b: BlockId, cuts: &mut Vec<CfgEdge>) {
        let mut weights: Vec<(CfgEdge, u64)> = edges(self.cfg, &self.shape.order, b)
            .map(|(e, to)| (e, to.map_or(1, |t| self.paths[t])))
            .collect();
        let total = weights.iter().fold(0u64, |n, &(_, w)| n.saturating_add(w));
        if self.must_cut(b, weights.len(), total) {
            let heavy = self.heavy_threshold(weights.len());
            for (e, w) in weights.iter_mut().filter(|(_, w)| *w > heavy) {
                cuts.push(*e);
                *w = 1;
            }
        }
        self.paths[b] = weights.iter().map(|&(_, w)| w).sum::<u64>().max(1);
    }

    /// Waists are cut from 1/2^16 of the limit on (outside loops) or 1/2^8 (inside).
    fn must_cut(&self, b: BlockId, degree: usize, total: u64) -> bool {
        let at = self.shape.order.position[b].expect("reachable");
        let margin = match (degree, self.shape.loops.loop_of(at)) {
            (1, None) => 1 << 16,
            (1, Some(_)) => 1 << 8,
            _ => 1,
        };
        total > (self.limit / margin).max(1)
    }

    /// Edges with more paths than this are cut in a block over the limit; the light ones
    /// together stay below a 2^20th of it, so the next cut is far away.
    fn heavy_threshold(&self, degree: usize) -> u64 {
        (self.limit >> 20) / degree as u64
    }
}
