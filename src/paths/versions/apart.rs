//! Iterations apart: loops in versions, one for each place inside where paths begin.
//!
//! At a loop's header the path register is a φ of two things: the id so far of the path that entered the loop, and
//! the constant with which paths begin that the back edge starts. So nothing is known of it in the body, although
//! two thirds of all paths begin at a header. Of the two versions of a loop made here, the first runs the path that
//! entered the loop, up to its back edge; the second runs all paths that begin at the header:
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
//! single path needs no register at all. A *nest* is a loop with all loops inside it. It has one version more than
//! places where paths begin: that of a header, or of where a cut edge leads, runs the paths that begin there, through
//! inner loops and out of them again, as long as they stay in the nest.

use super::{Product, Versions, can_be_copied, size, weight};
use crate::base::index::{BlockId, CfgEdge};
use crate::input::ir::{Cfg, Terminator};
use crate::paths::dag::{LoopForest, Order, Shape};

/// A nest with more instructions than this is no nest: what a path costs is little beside what it does.
const MAX_NEST: u32 = 256;

/// Copies may make a function larger by half (plus what a small loop takes).
const MAX_GROWTH: u32 = 2;

/// Where other paths are counted in a hash table, copies may double a function, as long as they have no more
/// instructions than this: outside nests a path then takes eight instructions or more, not one or two. One copy of all
/// paths: byacc +8.1 → +7.2 %, bzip2 +25.8 → +19.1 %. More code spills in `BZ2_decompress`, and where paths have an
/// array, life loses by as much. Not where landing pads are: an exception searches the tables of all call sites, which
/// took parser two points.
const MAX_DOUBLED: u32 = 3 << 10;

/// Loops run ten times, where nothing is known (Ball & Larus 1994).
const TIMES: f64 = 10.0;

/// The automaton of iterations apart. In state 0 are paths that begin outside nests or have left theirs, in others
/// those that begin at one block: a header, or where a cut edge leads.
pub(crate) struct Apart<'a> {
    edges: Edges<'a>,
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

/// The headers, ascending, of the nests: loops, those first that run much code for the copies they take, as long as the
/// function does not grow too much and the paths inside them number at most `ids`. None in functions whose
/// blocks cannot be copied ([`can_be_copied`]). `cuts`, sorted, end paths too. `hashes`: whether the function has more
/// paths than an array holds.
/// Near-linear.
pub(crate) fn choose(
    cfg: &Cfg,
    shape: &Shape,
    cuts: &[CfgEdge],
    ids: u64,
    hashes: bool,
) -> Vec<BlockId> {
    let (order, forest) = (&*shape.order, &shape.loops);
    if !can_be_copied(cfg, order) {
        return Vec::new();
    }
    let mut costs = costs(cfg, shape, cuts);
    let key = |c: &Cost| f64::from(c.code) / TIMES.powi(c.depth as i32);
    costs.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.header.cmp(&b.header)));
    let total = size(cfg, order) as u32;
    let is_invoke = |b: &BlockId| cfg.block(*b).terminator == Terminator::Invoke;
    let doubles = hashes && !order.rpo.iter().any(is_invoke);
    let doubled = if doubles { total.min(MAX_DOUBLED) } else { 0 };
    let (mut code, mut paths) = (MAX_NEST.max(total / MAX_GROWTH).max(doubled), ids);
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
            for header in forest
                .find_loops_around(nest.header)
                .take(MAX_NEST as usize)
            {
                let all = &mut taken[header as usize];
                *all = (all.0 + more.0, all.1 + more.1);
            }
        }
    }
    let outermost = find_outermost_loops(forest, &chosen);
    let is_nest = |&at: &u32| outermost[at as usize] == Some(at);
    let nests = (0..order.rpo.len() as u32).filter(is_nest);
    let mut headers: Vec<BlockId> = nests.map(|at| order.rpo[at as usize]).collect();
    headers.sort_unstable();
    headers
}

/// By position: the header of the outermost of the `chosen` loops around a block. O(V).
fn find_outermost_loops(forest: &LoopForest, chosen: &[bool]) -> Vec<Option<u32>> {
    let mut of: Vec<Option<u32>> = Vec::with_capacity(chosen.len());
    for at in 0..chosen.len() as u32 {
        // Headers stand before what their loops hold.
        let outer = forest.parent[at as usize].and_then(|header| of[header as usize]);
        of.push(outer.or(chosen[at as usize].then_some(at)));
    }
    of
}

/// The loops that are small enough to be nests.
fn costs(cfg: &Cfg, shape: &Shape, cuts: &[CfgEdge]) -> Vec<Cost> {
    let (order, forest) = (&*shape.order, &shape.loops);
    let mut bodies: Vec<Vec<u32>> = vec![Vec::new(); order.rpo.len()];
    let mut sizes = vec![0u32; order.rpo.len()];
    for at in 0..order.rpo.len() as u32 {
        for header in forest.find_loops_around(at) {
            let size = &mut sizes[header as usize];
            if *size > MAX_NEST {
                break; // so are the loops around it
            }
            *size = size.saturating_add(weight(cfg.block(order.rpo[at as usize])));
            bodies[header as usize].push(at);
        }
    }
    let edges = Edges { cfg, cuts, order };
    let fits = |h: &usize| !bodies[*h].is_empty() && sizes[*h] <= MAX_NEST;
    let headers = (0..bodies.len()).filter(fits);
    headers
        .map(|h| cost(&edges, forest, h as u32, &bodies[h]))
        .collect()
}

/// The edges of a control flow, by positions, and which of them end paths.
#[derive(Clone, Copy)]
struct Edges<'a> {
    cfg: &'a Cfg,
    cuts: &'a [CfgEdge],
    order: &'a Order,
}

impl Edges<'_> {
    /// Where an edge leads, and whether it ends paths.
    fn target(&self, edge: CfgEdge) -> (u32, bool) {
        let to = self.cfg.target(edge);
        let at = self.order.position[to].expect("successor of a reachable block");
        (at, self.order.ends_path(self.cuts, edge, to))
    }

    /// Where each edge out of the block at `at` leads, and whether it ends paths.
    fn out_of(&self, at: u32) -> impl Iterator<Item = (u32, bool)> {
        let block = self.order.rpo[at as usize];
        let succs = 0..self.cfg.block(block).succs.len() as u32;
        succs.map(move |succ| self.target(CfgEdge { block, succ }))
    }
}

/// What the loop with blocks `body`, ascending, takes. O(starts in it · its edges).
fn cost(edges: &Edges, forest: &LoopForest, header: u32, body: &[u32]) -> Cost {
    let inner = |at: u32| body.binary_search(&at).ok();
    let mut paths = vec![0u64; body.len()];
    let mut is_start = vec![false; body.len()];
    for (i, &at) in body.iter().enumerate().rev() {
        for (to, ends) in edges.out_of(at) {
            let inside = inner(to);
            let ways = match inside {
                _ if ends => 1,
                Some(to) => paths[to],
                None => 0,
            };
            paths[i] = paths[i].saturating_add(ways);
            if let Some(to) = inside.filter(|_| ends) {
                is_start[to] = true;
            }
        }
    }
    let mut cost = Cost {
        header,
        depth: forest.find_loops_around(header).count() as u32,
        code: 0,
        paths: 0,
    };
    for i in (0..body.len()).filter(|&i| is_start[i]) {
        cost.paths = cost.paths.saturating_add(paths[i]);
        let mut reached = vec![false; body.len()];
        reached[i] = true;
        for (j, &at) in body.iter().enumerate().skip(i) {
            if reached[j] {
                cost.code += weight(edges.cfg.block(edges.order.rpo[at as usize]));
                let goes_on = edges.out_of(at).filter(|&(_, ends)| !ends);
                goes_on
                    .filter_map(|(to, _)| inner(to))
                    .for_each(|to| reached[to] = true);
            }
        }
    }
    cost
}

impl<'a> Apart<'a> {
    /// With the nests at `headers`; `None` when one of them is not the header of a loop. `cuts`, sorted, end paths
    /// too. Near-linear.
    pub(crate) fn new(
        cfg: &'a Cfg,
        shape: &'a Shape,
        cuts: &'a [CfgEdge],
        headers: &[BlockId],
    ) -> Option<Apart<'a>> {
        let (order, forest) = (&*shape.order, &shape.loops);
        let mut chosen = vec![false; order.rpo.len()];
        for h in headers {
            let at = (*order.position.get(*h)?)? as usize;
            chosen[at] = forest.is_header[at].then_some(true)?;
        }
        let of = find_outermost_loops(forest, &chosen);
        let edges = Edges { cfg, cuts, order };
        Some(Apart { edges, of })
    }

    /// The control flow with iterations apart.
    pub(crate) fn product(&self) -> Product<u32> {
        let Edges { cfg, order, .. } = self.edges;
        Versions::product(cfg, order, 0, |state, e| self.state_behind(state, e))
    }

    /// Whether a nest holds the block, which can be reached.
    pub(crate) fn contains_block(&self, block: BlockId) -> bool {
        let at = self.edges.order.position[block].expect("it is reached");
        self.of[at as usize].is_some()
    }

    /// The state behind an edge taken in `state`: that of the block at which a path begins, as long as it stays in the
    /// nest.
    pub(crate) fn state_behind(&self, state: u32, edge: CfgEdge) -> u32 {
        let (at, ends_path) = self.edges.target(edge);
        let Some(nest) = self.of[at as usize] else {
            return 0;
        };
        if ends_path {
            return at + 1;
        }
        let start = state.checked_sub(1);
        let stays = |start: &u32| self.of[*start as usize] == Some(nest);
        start.filter(stays).map_or(0, |start| start + 1)
    }
}
