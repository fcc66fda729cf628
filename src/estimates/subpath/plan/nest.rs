//! The loops at whose headers a function goes on with an activation that left it inside them.
//!
//! A function whose activations never came back would be warm for nothing: what is sampled in a loop would run the rest
//! of it in code that neither caches nor branch predictors know, which takes twice the time or more.
//!
//! What is live at a header besides its φs is defined before the loop, so it is as it was when control left the
//! function, as long as the loop was not left meanwhile: there is nothing to be handed back but the φs. Whether it was
//! left is known at run time alone.

use super::has_call_that_may_record;
use crate::base::index::{BlockId, CfgEdge};
use crate::input::ir::Cfg;
use crate::paths::dag::{LoopForest, Order};

/// As many loops around each other are gone on with.
const DEPTH: usize = 8;

/// Control comes back to a loop that holds no other one if it has more instructions, or calls functions of the program.
/// One more way round it keeps optimisers from counting its iterations, and from all that follows: coming back to every
/// loop, six programs of ours took 5 % more for skipping. A loop that calls is hardly unrolled or made into vectors,
/// and what it is resumed in keeps more in memory than it does.
const CODE: u32 = 256;

/// The loops of a control flow, each before those inside it.
#[derive(Clone, Debug, Default)]
pub struct Nest {
    /// Their numbers are their places here.
    pub loops: Vec<Loop>,
    /// By block: the number of the innermost one around it.
    inside: Vec<Option<u32>>,
}

/// One of them, which is entered at its header alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its header.
    pub header: BlockId,
    /// The number of the next one around it.
    pub outer: Option<u32>,
    /// The last number of those inside it, its own if there are none.
    pub last: u32,
    /// The edges by which it is entered.
    pub entries: Vec<CfgEdge>,
}

impl Nest {
    /// The loops of `cfg` that are entered at their headers alone, by edges that can be split. O(E · depth).
    pub fn new(cfg: &Cfg, order: &Order) -> Nest {
        let forest = LoopForest::new(cfg, order);
        let mut found = LoopFacts::new(cfg, order, &forest);
        for (from, &b) in (0..).zip(&order.rpo) {
            let block = cfg.block(b);
            for (succ, to) in (0..).zip(&block.succs) {
                let edge = CfgEdge { block: b, succ };
                let to = order.position[*to].expect("reachable");
                found.enter_loops(edge, from, to, block.terminator.can_split(succ));
            }
        }
        found.nest(cfg, order)
    }

    /// The innermost one around a block, its own if it is a header.
    pub fn find_around(&self, block: BlockId) -> Option<u32> {
        self.inside[block.0 as usize]
    }

    /// The one with this header.
    pub fn find_headed_by(&self, header: BlockId) -> Option<u32> {
        let around = self.find_around(header)?;
        (self.loops[around as usize].header == header).then_some(around)
    }

    /// All around a block, from the innermost one on.
    pub fn find_all_around(&self, block: BlockId) -> impl Iterator<Item = u32> {
        let outer = |&l: &u32| self.loops[l as usize].outer;
        std::iter::successors(self.find_around(block), outer)
    }
}

/// What is known of all loops, by the position of their headers.
struct LoopFacts<'a> {
    forest: &'a LoopForest,
    /// By which edges they are entered; `None`: not at the header alone, or not by edges that can be split.
    entries: Vec<Option<Vec<CfgEdge>>>,
}

impl<'a> LoopFacts<'a> {
    fn new(cfg: &Cfg, order: &Order, forest: &'a LoopForest) -> Self {
        let (mut code, mut holds) = (vec![0; order.rpo.len()], vec![false; order.rpo.len()]);
        let mut calls = vec![false; order.rpo.len()];
        for (at, &parent) in (0..).zip(&forest.parent) {
            if let (true, Some(outer)) = (forest.is_header[at as usize], parent) {
                holds[outer as usize] = true;
            }
            if let Some(header) = forest.loop_of(at) {
                let block = cfg.block(order.rpo[at as usize]);
                code[header as usize] += block.instructions;
                calls[header as usize] |= has_call_that_may_record(block);
            }
        }
        let is_one = |at: u32| {
            let n = at as usize;
            let is_large = holds[n] || code[n] > CODE || calls[n];
            forest.is_header[n] && is_large && forest.find_loops_around(at).nth(DEPTH).is_none()
        };
        let all = 0..order.rpo.len() as u32;
        let entries = all.map(|at| is_one(at).then(Vec::new)).collect();
        LoopFacts { forest, entries }
    }

    /// The edge enters the loops that hold position `to` and not `from`.
    fn enter_loops(&mut self, edge: CfgEdge, from: u32, to: u32, splits: bool) {
        let forest = self.forest;
        let around = forest.find_loops_around(to);
        for header in around.take_while(|h| !forest.loop_contains(*h, from)) {
            let entries = &mut self.entries[header as usize];
            if header != to || !splits {
                *entries = None;
            }
            entries.iter_mut().for_each(|e| e.push(edge));
        }
    }

    fn nest(mut self, cfg: &Cfg, order: &Order) -> Nest {
        let mut nest = Nest {
            loops: Vec::new(),
            inside: vec![None; cfg.len()],
        };
        let mut inner: Vec<Vec<u32>> = vec![Vec::new(); order.rpo.len()];
        let mut work = Vec::new();
        for (at, parent) in (0..).zip(&self.forest.parent) {
            if self.forest.is_header[at as usize] {
                parent
                    .map_or(&mut work, |h| &mut inner[h as usize])
                    .push(at);
            }
        }
        // By position of a header: the number of its loop, or of the next one around it.
        let mut numbers: Vec<Option<u32>> = vec![None; order.rpo.len()];
        while let Some(at) = work.pop() {
            let outer = self.forest.parent[at as usize].and_then(|h| numbers[h as usize]);
            numbers[at as usize] = outer;
            if let Some(entries) = self.entries[at as usize].take() {
                let number = nest.loops.len() as u32;
                numbers[at as usize] = Some(number);
                nest.loops.push(Loop {
                    header: order.rpo[at as usize],
                    outer,
                    last: number,
                    entries,
                });
            }
            work.append(&mut inner[at as usize]);
        }
        for number in (0..nest.loops.len()).rev() {
            let Loop { outer, last, .. } = nest.loops[number];
            if let Some(outer) = outer {
                let around = &mut nest.loops[outer as usize].last;
                *around = last.max(*around);
            }
        }
        for (at, b) in (0..).zip(&order.rpo) {
            let header = self.forest.loop_of(at);
            nest.inside[b.0 as usize] = header.and_then(|h| numbers[h as usize]);
        }
        nest
    }
}
