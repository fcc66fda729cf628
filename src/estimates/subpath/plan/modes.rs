//! In which version control is: an automaton over the edges of the new control flow.

use super::{End, Mode, Node};
use crate::base::index::{BlockId, CfgEdge, TiSlice};
use crate::input::ir::Cfg;
use crate::paths::dag::{LoopForest, Order};

/// How many loops around each other are copied to be resumed: all blocks are in two versions more
/// than that at most.
pub(super) const RESUMED: usize = 8;

/// The loops of the new control flow.
struct Loops<'a> {
    order: &'a Order,
    forest: LoopForest,
}

impl<'a> Loops<'a> {
    fn new(cfg: &Cfg, order: &'a Order) -> Loops<'a> {
        let forest = LoopForest::new(cfg, order);
        Loops { order, forest }
    }

    fn position(&self, b: BlockId) -> u32 {
        self.order.position[b].expect("reachable")
    }

    /// Whether `b` is in the loop of `header`. O(depth).
    fn is_inside(&self, header: BlockId, b: BlockId) -> bool {
        let (header, b) = (self.position(header), self.position(b));
        self.forest.loop_contains(header, b)
    }

    /// The version in which `header`, or what is no header, is entered with nothing to record.
    /// O([`RESUMED`]).
    fn resumed_mode(&self, header: BlockId) -> Mode {
        let at = self.position(header);
        if self.forest.is_header[at as usize]
            && self.forest.find_loops_around(at).nth(RESUMED).is_none()
        {
            Mode::Resumed(header)
        } else {
            Mode::Sampling
        }
    }
}

/// What decides, at each edge, in which version control goes on.
pub(super) struct Automaton<'a> {
    cfg: &'a Cfg,
    nodes: &'a TiSlice<BlockId, Node>,
    loops: Loops<'a>,
}

impl<'a> Automaton<'a> {
    /// O(V + E).
    pub(super) fn new(cfg: &'a Cfg, order: &'a Order, nodes: &'a TiSlice<BlockId, Node>) -> Self {
        Automaton {
            cfg,
            nodes,
            loops: Loops::new(cfg, order),
        }
    }

    /// Where `edge` leads, taken in `mode`, and the mode there. O(depth of loops).
    ///
    /// What is told of every block need not join anything: both ways out of [`End::Looks`] are the second one then, so
    /// that nothing is made for the first.
    pub(super) fn step(&self, mode: Mode, edge: CfgEdge) -> (BlockId, Mode) {
        let edge = match self.nodes[edge.block].end {
            End::Looks if mode == Mode::Sampling => CfgEdge { succ: 1, ..edge },
            _ => edge,
        };
        (self.cfg.target(edge), self.mode_behind(mode, edge))
    }

    /// The mode behind `edge`, taken in `mode`. O(depth of loops).
    fn mode_behind(&self, mode: Mode, edge: CfgEdge) -> Mode {
        let to = self.cfg.target(edge);
        match self.nodes[edge.block].end {
            End::Joins => Mode::Sampling,
            End::Decides(_) => self.decide(mode, edge.succ, to),
            // The function that control came from goes on: this one is left.
            End::Stays(_) if edge.succ == 0 => mode,
            End::Stays(_) => self.resume(mode, to),
            End::Own
            | End::Pays(_)
            | End::Looks
            | End::Leaves(_)
            | End::Enters(_)
            | End::Back(_) => self.go_on(mode, to),
        }
    }

    /// Behind a block that asks whether the segment that begins is to be sampled.
    fn decide(&self, mode: Mode, succ: u32, to: BlockId) -> Mode {
        match succ {
            0 => Mode::Sampling,
            // The next block decides whether the other function goes on.
            _ if matches!(self.nodes[to].end, End::Stays(_)) => mode,
            _ => self.resume(mode, to),
        }
    }

    /// With nothing to be sampled.
    fn resume(&self, mode: Mode, to: BlockId) -> Mode {
        match mode {
            Mode::Sampling | Mode::Over => self.loops.resumed_mode(to),
            // Seldom, and a loop that is entered again from outside has one back edge less.
            Mode::Skipping | Mode::Resumed(_) => Mode::Sampling,
        }
    }

    /// Where nothing is decided.
    fn go_on(&self, mode: Mode, to: BlockId) -> Mode {
        match mode {
            Mode::Resumed(header) if !self.loops.is_inside(header, to) => Mode::Sampling,
            _ => mode,
        }
    }
}
