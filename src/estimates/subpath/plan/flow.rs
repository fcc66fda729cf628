//! The control flow that is sampled: short loops are in it several times over, so that one payment is for several
//! iterations.
//!
//! A payment takes two or three instructions, which is much in a loop whose iterations take twenty. Where a loop is
//! left its blocks that are still to come were paid in vain; they are few beside what costs as much as a payment
//! ([`super::segments`]). The first iteration pays for itself alone: of a loop that goes round once or twice, the
//! copies would all be paid for whenever it is entered.

use super::{can_be_sampled, may_record};
use crate::base::index::{BlockId, CfgEdge, TiVec};
use crate::input::ir::{Block, Cfg};
use crate::paths::dag::{EdgeKind, LoopForest, Order};
use crate::paths::function::Measuring;
use crate::paths::versions::{Product, Versions, weight};
use std::collections::{BTreeMap, BTreeSet};

/// The most instructions of all copies of a loop's blocks behind the first iteration: one payment in so many is one
/// percent of them. Most blocks have four of them or more, so that what is paid in vain stays below half of what costs
/// as much as a payment.
const CODE: u32 = 256;

/// The most times that a loop is in the control flow behind its first iteration: three payments of four are saved. What
/// one copy more saves falls with the square of their number, while the code, what is paid in vain, and the way of each
/// sample grow by as much again.
const TIMES: u32 = 4;

/// A loop that is not begun again as often as it is left has no payments to be saved.
const AGAIN: f64 = 0.5;

/// The control flow of a function with short loops several times over.
#[derive(Clone, Debug)]
pub struct SampledFlow {
    /// Its blocks, which lead back to the function's; in an order of their own, in which a loop that is there several
    /// times has one back edge where it had one.
    pub versions: Versions,
    /// By block: the probabilities of its ways on.
    pub chances: TiVec<BlockId, Vec<f64>>,
    /// The edges behind the first iterations of loops that are there several times, by which they are begun again.
    pub first_backs: BTreeSet<CfgEdge>,
}

/// Which iteration of a loop it is, and of which: behind the first one, 0, by turns those that are there.
type Iteration = Option<(BlockId, u32)>;

impl SampledFlow {
    /// That of the function itself. O(V + E).
    pub fn function_flow(own: &Cfg, paths: &Measuring) -> SampledFlow {
        SampledFlow::with_iterations(own, paths, &ShortLoops::default())
    }

    /// With loops that hold no other ones several times over, where they are short. O(V + E) of the result.
    ///
    /// Of a function that [`can_be_sampled`], which also this can be.
    pub fn new(own: &Cfg, paths: &Measuring) -> SampledFlow {
        let flow = SampledFlow::with_iterations(own, paths, &ShortLoops::find(own, paths));
        // What retreats in a loop with several entries is up to the order.
        if can_be_sampled(&flow.versions.cfg, &flow.versions.order) {
            flow
        } else {
            SampledFlow::function_flow(own, paths)
        }
    }

    fn with_iterations(own: &Cfg, paths: &Measuring, loops: &ShortLoops) -> SampledFlow {
        let next = |now, e| loops.iteration_behind(now, e, own.target(e));
        let product = Versions::product(&bare_flow(own), &paths.shape.order, None, next);
        let first_backs = first_backs(&product);
        let order = Order::new(&product.versions.cfg);
        let versions = Versions {
            order,
            ..product.versions
        };
        let chances = |b: &BlockId| branch_probabilities(own, paths, *b);
        SampledFlow {
            chances: versions.origin.iter().map(chances).collect(),
            first_backs,
            versions,
        }
    }
}

/// The control flow without what is not asked for when something is sampled: a block is there many times over. Of its
/// calls there is one left in which something may be recorded. O(V + E).
fn bare_flow(own: &Cfg) -> Cfg {
    let bare = |block: &Block| Block {
        instructions: block.instructions,
        calls: block
            .calls
            .iter()
            .find(|c| may_record(c))
            .cloned()
            .into_iter()
            .collect(),
        may_leave: block.may_leave,
        returns_twice: block.returns_twice,
        single: block.single,
        known_labels: block.known_labels,
        ..Block::with_terminator(block.terminator, block.succs.clone())
    };
    Cfg {
        blocks: own.blocks.iter().map(bare).collect(),
    }
}

/// From first iterations to second ones. O(V + E).
fn first_backs(product: &Product<Iteration>) -> BTreeSet<CfgEdge> {
    let mut edges = BTreeSet::new();
    for (block, state) in product.states.iter_enumerated() {
        let Some(Some((header, 0))) = *state else {
            continue;
        };
        let second = Some(Some((header, 1)));
        let succs = (0..).zip(&product.versions.cfg.block(block).succs);
        let again = succs.filter(|(_, to)| product.states[**to] == second);
        edges.extend(again.map(|(succ, _)| CfgEdge { block, succ }));
    }
    edges
}

/// Loops that are there several times.
#[derive(Default)]
struct ShortLoops {
    /// How often behind the first iteration, by header.
    times: BTreeMap<BlockId, u32>,
    /// The header, by block.
    around: BTreeMap<BlockId, BlockId>,
}

impl ShortLoops {
    /// Those that hold no other ones, are entered at their header alone, and have little code. O(V + E).
    fn find(own: &Cfg, paths: &Measuring) -> ShortLoops {
        let (order, forest) = (&paths.shape.order, &paths.shape.loops);
        let mut around: BTreeMap<BlockId, BlockId> = BTreeMap::new();
        let mut code: BTreeMap<BlockId, u32> = BTreeMap::new();
        for (at, &b) in (0..).zip(&order.rpo) {
            if let Some(header) = forest.loop_of(at) {
                let header = order.rpo[header as usize];
                around.insert(b, header);
                *code.entry(header).or_default() += weight(own.block(b));
            }
        }
        let others = outer_headers(order, forest).chain(entered_inside(own, order, &around));
        for header in others {
            code.remove(&header);
        }
        let again = repeat_probabilities(own, paths);
        code.retain(|header, _| again.get(header).is_some_and(|chance| *chance >= AGAIN));
        let times = code
            .into_iter()
            .map(|(h, code)| (h, (CODE / code).min(TIMES)));
        let times: BTreeMap<BlockId, u32> = times.filter(|(_, n)| *n > 1).collect();
        around.retain(|_, header| times.contains_key(header));
        ShortLoops { times, around }
    }

    /// The iteration behind `e`, an edge to `to`.
    fn iteration_behind(&self, now: Iteration, e: CfgEdge, to: BlockId) -> Iteration {
        let header = *self.around.get(&to)?;
        let from = self.around.get(&e.block);
        match now {
            Some((of, n)) if of == header && from == Some(&header) => {
                let n = n + u32::from(to == header);
                let is_past = n > self.times[&header];
                Some((header, if is_past { 1 } else { n }))
            }
            _ => Some((header, 0)),
        }
    }
}

/// The headers of loops that hold others.
fn outer_headers(order: &Order, forest: &LoopForest) -> impl Iterator<Item = BlockId> {
    let headers = forest.parent.iter().zip(&forest.is_header);
    let inner = headers.filter(|(_, is_header)| **is_header);
    inner.filter_map(|(parent, _)| Some(order.rpo[(*parent)? as usize]))
}

/// The headers of loops that control also enters elsewhere. `around`: by block, the header of the innermost loop.
fn entered_inside(
    own: &Cfg,
    order: &Order,
    around: &BTreeMap<BlockId, BlockId>,
) -> impl Iterator<Item = BlockId> {
    let ways = order.rpo.iter();
    let ways = ways.flat_map(|b| own.block(*b).succs.iter().map(move |to| (b, to)));
    ways.filter_map(|(b, to)| {
        let header = around.get(to)?;
        let enters = header != to && around.get(b) != Some(header);
        enters.then_some(*header)
    })
}

/// By header: the probability that its loop is begun again.
fn repeat_probabilities(own: &Cfg, paths: &Measuring) -> BTreeMap<BlockId, f64> {
    let dag = &paths.dag;
    let mut again: BTreeMap<BlockId, f64> = BTreeMap::new();
    for e in dag.edge_ids() {
        if let EdgeKind::BackEdge(c) = dag.edge(e).kind {
            *again.entry(own.target(c)).or_default() += paths.weights[e];
        }
    }
    for (header, back) in &mut again {
        let vertex = dag.vertex(*header).into_iter();
        let all: f64 = vertex
            .flat_map(|v| dag.out_edges(v))
            .map(|e| paths.weights[e])
            .sum();
        // A loop that never ran is not begun again.
        *back /= all.max(f64::MIN_POSITIVE);
    }
    again
}

/// By successor of block `b` of the function: the probability that control takes the edge.
fn branch_probabilities(cfg: &Cfg, paths: &Measuring, b: BlockId) -> Vec<f64> {
    let mut chances = vec![0.0; cfg.block(b).succs.len()];
    let dag = &paths.dag;
    for e in dag.vertex(b).into_iter().flat_map(|v| dag.out_edges(v)) {
        if let EdgeKind::Real(c) | EdgeKind::BackEdge(c) = dag.edge(e).kind {
            chances[c.succ as usize] = paths.weights[e];
        }
    }
    let all: f64 = chances.iter().sum();
    if all > 0.0 {
        chances.iter_mut().for_each(|c| *c /= all);
    }
    chances
}
