//! Where segments begin, and what is paid for them.
//!
//! What is paid beyond the blocks that run is drawn like any other slot, and a sample that falls there is rejected: an
//! attempt for nothing. At the header of an inner loop that pays for the way out of it and on to the function's end,
//! nearly all are. So an edge can be a boundary, too, where what it costs to pay there again is less than what is not
//! paid in vain before.

use super::SampledFlow;
use crate::base::index::{BlockId, CfgEdge, TiVec};

/// As many slots in vain cost what it costs to pay once. A payment is two to four instructions, an attempt some three
/// hundred, and by default one slot in 20,000 is one.
const PAYMENT: f64 = 256.0;

/// As many slots in vain, whenever a block is run, are worth an edge more of it that pays: what is live there has to be
/// handed over, which takes code, and registers on the way there. They cost a quarter of an instruction.
const EDGE: f64 = 16.0;

/// The segments of a function.
#[derive(Clone, Debug)]
pub struct Segments {
    /// By block: the number of blocks on the longest way from it to the next boundary, its own included.
    pub longest: TiVec<BlockId, u32>,
    /// The boundaries besides the entry, and where they lead: all back edges, those behind first iterations, and the
    /// edges where it pays to pay again.
    pub boundaries: Vec<(CfgEdge, BlockId)>,
}

impl Segments {
    /// Those of a function whose back edges can be split. O(V + E log degree).
    ///
    /// At each block, from the last one on, the edges with the longest ways behind them become boundaries, as many as
    /// make what is expected to be lost here least: slots that are paid for and not run, and payments.
    pub fn new(flow: &SampledFlow) -> Segments {
        let (cfg, order) = (&flow.versions.cfg, &flow.versions.order);
        let mut segments = Segments {
            longest: cfg.by_block(0),
            boundaries: Vec::new(),
        };
        for &b in order.rpo.iter().rev() {
            let ways = segments.ways(flow, b);
            let allowed = longest_allowed(&ways);
            segments.longest[b] = 1 + allowed;
            let early = ways.iter().filter(|w| w.longest > allowed);
            let early = early.map(|w| (w.edge, cfg.target(w.edge)));
            segments.boundaries.extend(early);
        }
        segments.boundaries.extend(order.back_edges(cfg));
        let firsts = flow.first_backs.iter().map(|e| (*e, cfg.target(*e)));
        segments.boundaries.extend(firsts);
        segments
            .boundaries
            .sort_unstable_by_key(|(e, _)| (order.position[e.block], e.succ));
        segments
    }

    /// The ways on from block `b` within a segment.
    fn ways(&self, flow: &SampledFlow, b: BlockId) -> Vec<SegmentWay> {
        let order = &flow.versions.order;
        let block = flow.versions.cfg.block(b);
        let terminator = block.terminator;
        let succs = (0..).zip(&block.succs).zip(&flow.chances[b]);
        let ways = succs.map(|((succ, &to), &chance)| (CfgEdge { block: b, succ }, to, chance));
        let on = ways.filter(|(edge, to, _)| {
            !order.is_retreating(b, *to) && !flow.first_backs.contains(edge)
        });
        on.map(|(edge, to, chance)| SegmentWay {
            edge,
            longest: self.longest[to],
            chance,
            splits: terminator.can_split(edge.succ),
        })
        .collect()
    }
}

/// An edge on which a segment can go on.
struct SegmentWay {
    edge: CfgEdge,
    /// The number of blocks on the longest way behind it.
    longest: u32,
    /// The probability that it is taken.
    chance: f64,
    /// Whether it can be a boundary.
    splits: bool,
}

/// The number of blocks that a segment may go on for behind a block with these ways: those that are longer begin
/// another one.
fn longest_allowed(ways: &[SegmentWay]) -> u32 {
    let mut by_length: Vec<&SegmentWay> = ways.iter().collect();
    by_length.sort_by_key(|w| std::cmp::Reverse(w.longest));
    let run = |w: &&SegmentWay| w.chance * f64::from(w.longest);
    let mut run: f64 = by_length.iter().map(run).sum();
    let (mut paid, mut best) = (0.0, (f64::INFINITY, 0));
    for w in by_length {
        let lost = paid + f64::from(w.longest) - run;
        if lost < best.0 {
            best = (lost, w.longest);
        }
        if !w.splits {
            return best.1;
        }
        run -= w.chance * f64::from(w.longest);
        paid += w.chance * PAYMENT + EDGE;
    }
    if paid < best.0 { 0 } else { best.1 }
}
