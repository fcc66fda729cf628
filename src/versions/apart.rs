//! Iterations apart: loops in versions, one for each place inside where paths begin (spec §9).
//!
//! At a loop's header the path register is a φ of two things: the id so far of the path that entered the loop, and
//! the constant with which paths begin that the back edge starts. So nothing is known of it in the body, although
//! two thirds of all paths begin at a header. Of the two versions of a loop made here, the first runs the path that entered
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
//! single path needs no register at all. A *nest* is a loop with all loops inside it. It has one version more than it has headers: that
//! of a header runs the paths that begin there, through inner loops and out of them again, as long as they stay in the nest.

use super::{Product, Versions, can_be_copied, weight};
use crate::dag::{LoopForest, Order, loop_forest};
use crate::index::{BlockId, CfgEdge};
use crate::ir::Cfg;

/// A nest with more instructions than this is no nest: what a path costs is little beside what it does.
const MAX_NEST: u32 = 256;

/// Copies may make a function larger by half (plus what a small loop takes).
const MAX_GROWTH: u32 = 2;

/// Loops run ten times, where nothing is known (Ball & Larus 1994).
const TIMES: f64 = 10.0;

/// The automaton of iterations apart. In state 0 are paths that begin outside nests or have left theirs, in others those
/// that begin at one header.
pub struct Apart<'a> {
    cfg: &'a Cfg,
    order: Order,
    /// By position in reverse postorder: the header of the nest around a block.
    of: Vec<Option<u32>>,
}

/// What it takes to make a loop a nest.
struct Cost {
    /// The position of its header.
    header: u32,
    /// The number of loops around it, and itself.
    depth: u32,
    /// Instructions of its further versions.
    code: u32,
    /// Paths that begin and end inside.
    paths: u64,
}

/// The headers, ascending, of the nests: reducible loops, those first that run much code for the copies they take, as long as the
/// function does not grow too much and the paths inside them number at most `ids`. None in functions whose
/// blocks cannot be copied ([`can_be_copied`]). `cuts`, sorted, end paths too.
/// Near-linear.
pub fn choose(cfg: &Cfg, cuts: &[CfgEdge], ids: u64) -> Vec<BlockId> {
    let order = Order::new(cfg);
    if !can_be_copied(cfg, &order) {
        return Vec::new();
    }
    let forest = loop_forest(cfg, &order);
    let mut costs = costs(cfg, cuts, &order, &forest);
    let key = |c: &Cost| f64::from(c.code) / TIMES.powi(c.depth as i32);
    costs.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.header.cmp(&b.header)));
    let total: u32 = order.rpo.iter().map(|&b| weight(cfg.block(b))).sum();
    let (mut code, mut paths) = (MAX_NEST.max(total / MAX_GROWTH), ids);
    let mut chosen = vec![false; order.rpo.len()];
    let mut taken = vec![(0, 0); order.rpo.len()]; // by header: by the nests inside, which it would replace
    for nest in costs {
        // Inner loops come first: they are smaller, and deeper.
        let (had_code, had_paths) = taken[nest.header as usize];
        let more = (nest.code - had_code, nest.paths.saturating_sub(had_paths));
        if more.0 <= code && more.1 <= paths {
            code -= more.0;
            paths -= more.1;
            chosen[nest.header as usize] = true;
            for header in around(&forest, nest.header).take(MAX_NEST as usize) {
                let all = &mut taken[header as usize];
                *all = (all.0 + more.0, all.1 + more.1);
            }
        }
    }
    let outermost = outermost(&forest, &chosen);
    let is_nest = |&at: &u32| outermost[at as usize] == Some(at);
    let nests = (0..order.rpo.len() as u32).filter(is_nest);
    let mut headers: Vec<BlockId> = nests.map(|at| order.rpo[at as usize]).collect();
    headers.sort_unstable();
    headers
}

/// By position: the header of the outermost of the `chosen` loops around a block. O(V).
fn outermost(forest: &LoopForest, chosen: &[bool]) -> Vec<Option<u32>> {
    let mut of: Vec<Option<u32>> = Vec::with_capacity(chosen.len());
    for at in 0..chosen.len() as u32 {
        // Headers stand before what their loops hold.
        let outer = forest.parent[at as usize].and_then(|header| of[header as usize]);
        of.push(outer.or(chosen[at as usize].then_some(at)));
    }
    of
}

/// The loops that can be nests, and are small enough.
fn costs(cfg: &Cfg, cuts: &[CfgEdge], order: &Order, forest: &LoopForest) -> Vec<Cost> {
    let possible = possible(cfg, cuts, order, forest);
    let mut bodies: Vec<Vec<u32>> = vec![Vec::new(); order.rpo.len()];
    let mut sizes = vec![0u32; order.rpo.len()];
    for at in 0..order.rpo.len() as u32 {
        for header in around(forest, at) {
            let size = &mut sizes[header as usize];
            if *size > MAX_NEST {
                break; // so are the loops around it
            }
            *size = size.saturating_add(weight(cfg.block(order.rpo[at as usize])));
            if possible[header as usize] {
                bodies[header as usize].push(at);
            }
        }
    }
    let fits = |h: &usize| possible[*h] && sizes[*h] <= MAX_NEST;
    let headers = (0..bodies.len()).filter(fits);
    headers
        .map(|h| cost(cfg, order, forest, h as u32, &bodies[h]))
        .collect()
}

/// The headers of the loops that hold block `at`, from the inside.
fn around(forest: &LoopForest, at: u32) -> impl Iterator<Item = u32> {
    let up = |&h: &u32| forest.parent[h as usize];
    std::iter::successors(forest.loop_of(at), up)
}

/// By position: whether a loop's header is the only way in, and no cut edge leads into it, where paths would begin that
/// come from outside.
fn possible(cfg: &Cfg, cuts: &[CfgEdge], order: &Order, forest: &LoopForest) -> Vec<bool> {
    let mut possible = forest.is_header.clone();
    let mut has_cut = vec![false; order.rpo.len()];
    for (at, &block) in (0..).zip(&order.rpo) {
        for (succ, to) in (0..).zip(&cfg.block(block).succs) {
            let to = order.position[to.index()].expect("successor of a reachable block");
            if cuts.binary_search(&CfgEdge { block, succ }).is_ok() {
                around(forest, to)
                    .take(1)
                    .for_each(|h| has_cut[h as usize] = true);
            }
            let entered = around(forest, to).take_while(|&header| !forest.holds(header, at));
            for header in entered.filter(|&header| header != to) {
                possible[header as usize] = false;
            }
        }
    }
    for header in (0..order.rpo.len()).rev() {
        if !has_cut[header] {
            continue;
        }
        possible[header] = false;
        forest.parent[header]
            .into_iter()
            .for_each(|outer| has_cut[outer as usize] = true);
    }
    possible
}

/// What the loop with blocks `body`, ascending, takes. O(headers in it · its edges).
fn cost(cfg: &Cfg, order: &Order, forest: &LoopForest, header: u32, body: &[u32]) -> Cost {
    let inner = |at: u32| body.binary_search(&at).ok();
    let succs = |at: u32| {
        let succs = &cfg.block(order.rpo[at as usize]).succs;
        succs
            .iter()
            .map(|to| order.position[to.index()].expect("reachable"))
    };
    let mut paths = vec![0u64; body.len()];
    for (i, &at) in body.iter().enumerate().rev() {
        let ways = succs(at).map(|to| match inner(to) {
            _ if to <= at => 1, // ends a path
            Some(to) => paths[to],
            None => 0,
        });
        paths[i] = ways.fold(0, u64::saturating_add);
    }
    let mut cost = Cost {
        header,
        depth: around(forest, header).count() as u32,
        code: 0,
        paths: 0,
    };
    for (i, &start) in body.iter().enumerate() {
        if !forest.is_header[start as usize] {
            continue;
        }
        cost.paths = cost.paths.saturating_add(paths[i]);
        let mut reached = vec![false; body.len()];
        reached[i] = true;
        for (j, &at) in body.iter().enumerate().skip(i) {
            if reached[j] {
                cost.code += weight(cfg.block(order.rpo[at as usize]));
                let forward = succs(at).filter(|&to| to > at);
                forward.filter_map(inner).for_each(|to| reached[to] = true);
            }
        }
    }
    cost
}

impl<'a> Apart<'a> {
    /// With the nests at `headers`; `None` when one of them is not the header of a reducible loop. `cuts`, sorted, end paths
    /// too. Near-linear.
    pub fn new(cfg: &'a Cfg, cuts: &[CfgEdge], headers: &[BlockId]) -> Option<Apart<'a>> {
        let order = Order::new(cfg);
        let forest = loop_forest(cfg, &order);
        let possible = possible(cfg, cuts, &order, &forest);
        let mut chosen = vec![false; order.rpo.len()];
        for h in headers {
            let at = (*order.position.get(h.index())?)? as usize;
            chosen[at] = possible[at].then_some(true)?;
        }
        let of = outermost(&forest, &chosen);
        Some(Apart { cfg, order, of })
    }

    /// The control flow with iterations apart.
    pub fn product(&self) -> Product<u32> {
        Versions::product(self.cfg, 0, |state, e| self.next(state, e))
    }

    /// The state behind an edge taken in `state`: that of the header at which a path begins, as long as it stays in the nest.
    pub fn next(&self, state: u32, edge: CfgEdge) -> u32 {
        let position = |b: BlockId| self.order.position[b.index()].expect("it is reached");
        let to = self.cfg.block(edge.block).succs[edge.succ as usize];
        let at = position(to);
        let Some(nest) = self.of[at as usize] else {
            return 0;
        };
        if self.order.is_retreating(edge.block, to) {
            return at + 1;
        }
        let start = state.checked_sub(1);
        let stays = |start: &u32| self.of[*start as usize] == Some(nest);
        start.filter(stays).map_or(0, |start| start + 1)
    }
}
