//! Functions that are sampled: versions, *skipping* and *sampling*, between which control passes at
//! boundaries (`docs/SUBPATHS.md`).
//!
//! Between two boundaries (the entry, back edges, edges behind which much more may follow than
//! elsewhere: [`Segments`]) an activation runs along a path of the function's DAG, a *segment*. At
//! a boundary the blocks of its longest path, as many *slots*, are paid in advance out of a budget
//! that all functions share: where that makes it negative, a sample begins in one of these slots,
//! and control goes to the sampling version. Each block execution owns one slot, so each becomes
//! the beginning of a sample with the same probability.
//!
//! Within a function control never comes back into the version that an activation begins with: its
//! loops would have a second entry, and a code generator that sees no loop keeps nothing in
//! registers for it. It comes back into a copy of the loop at whose header nothing is to be sampled
//! any more, which is entered there alone, and leaves it for the sampling version when it leaves
//! the loop.
//!
//! What samples is a function of its own where it can be ([`OutlinedPlans`]). From that control comes back
//! to the one that skips, at headers of loops that it did not leave meanwhile ([`Nest`]).
//!
//! Short loops are several times in the control flow of which all this is said ([`SampledFlow`]), so that
//! they pay for several iterations at once.
//!
//! The function gets blocks for that, in front of which its versions are made as any other's.

use crate::base::index::{BlockId, CfgEdge, FuncId, TiVec};
use crate::estimates::outlined::plan::with_entry;
use crate::input::ir::{Block, Call, Callee, Cfg, Terminator};
use crate::paths::dag::Order;
use crate::paths::function::Measuring;
use crate::paths::versions::{Versions, can_be_copied};
use builder::Builder;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

mod builder;
mod flow;
mod modes;
mod nest;
mod quiet;
mod segments;
mod text;

#[cfg(test)]
mod tests;

pub use flow::SampledFlow;
pub use nest::{Loop, Nest};
pub use segments::Segments;
pub use text::Figures;

/// A plan in which the sampling version is a function of its own, so that the other one has neither
/// its registers nor its frame.
#[derive(Clone, Debug)]
pub struct OutlinedPlans {
    /// The function: where something is to be sampled it calls the other one.
    pub skipping: SubpathPlan,
    /// The other one, whose block 0 leads to the places where it goes on; the function's blocks
    /// follow in their order.
    pub sampling: SubpathPlan,
    /// These places.
    pub places: Vec<Continuation>,
    /// The loops at whose headers the function goes on with what left it inside them.
    pub nest: Nest,
}

/// Where one function goes on with what another one began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Continuation {
    /// At this block, before anything was added: the entry, or where an edge leads.
    pub block: BlockId,
    /// The slots of the segment that begins there; `None` in the middle of one, of which nothing is
    /// to be sampled.
    pub slots: Option<u32>,
}

/// How one function is sampled.
#[derive(Clone, Debug)]
pub struct SubpathPlan {
    /// The function.
    pub func: FuncId,
    /// The number of its first block among those of all functions.
    pub first: u32,
    /// The function's blocks, short loops several times, before anything is added.
    pub flow: Arc<SampledFlow>,
    /// How far blocks are numbered behind those of `flow`: by one, where block 0 is nothing of the
    /// function's.
    pub offset: u32,
    /// The control flow of `flow`, with the blocks that are added behind its own.
    pub cfg: Cfg,
    /// How these come to be, in this order; each is the next block.
    pub made: Vec<Made>,
    /// By block of `cfg`.
    pub nodes: TiVec<BlockId, Node>,
    /// Both versions of it.
    pub versions: Versions,
    /// By block of the versions: in which it is, if it can be reached.
    pub modes: TiVec<BlockId, Option<Mode>>,
    /// The plan in two functions, if control goes over at the beginning of blocks alone: not behind landing pads.
    pub apart: Option<Box<OutlinedPlans>>,
}

/// A function that is sampled. Its plan is made when it is wanted, and dropped behind that: the plans
/// of all functions take as much memory as what LLVM has read.
#[derive(Clone)]
pub struct SampledFunction<'a> {
    /// The function.
    pub func: FuncId,
    /// [`SubpathPlan::first`].
    pub first: u32,
    /// Its control flow.
    pub cfg: Cow<'a, Cfg>,
    /// What is known of its paths.
    pub paths: Cow<'a, Measuring>,
    /// What its subpaths are parts of.
    pub sequence: Sequence,
}

impl SampledFunction<'_> {
    /// Makes what all its plans are made of.
    pub fn draft(&self) -> Draft {
        let flow = SampledFlow::new(&self.cfg, &self.paths);
        Draft::new(self.func, self.first, flow, self.sequence)
    }

    /// Makes the plan. See [`SubpathPlan::new`].
    pub fn plan(&self) -> SubpathPlan {
        self.draft().make_plans()
    }
}

/// What a subpath is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// The blocks of a thread, through calls and returns.
    Thread,
    /// The blocks of each activation by itself.
    Activation,
}

/// The versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Nothing was recorded so far.
    Skipping,
    /// Nothing is recorded since control reached this header of the new control flow, and while it
    /// is in its loop.
    Resumed(BlockId),
    /// Every block is told to the runtime.
    Sampling,
    /// Control came over from another function, and nothing is decided yet.
    Over,
}

/// How a block is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It gets all of the entry but the places for variables.
    Body,
    /// It gets what is behind the landing pad of this block.
    Landed(BlockId),
    /// It gets the terminator of this block.
    Tail(BlockId),
    /// It is put on this edge.
    On(CfgEdge),
    /// It is empty, and entered from another one that is made.
    New,
}

/// What a block of the new control flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The block, before anything was added, for which it stands in φs behind it.
    pub origin: BlockId,
    /// Whether `origin` begins here, as far as that is seen: behind landing pads.
    pub begins: bool,
    /// What it ends with.
    pub end: End,
}

/// What a block ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// What the function's block ends with.
    Own,
    /// A segment begins: this many slots are paid. Successors: an [`End::Decides`], where that made
    /// the budget negative; on.
    Pays(u32),
    /// The runtime is asked whether the segment of so many slots that begins is to be sampled.
    /// Successors: sampled, skipped.
    Decides(u32),
    /// Behind a call. Successors: an [`End::Joins`], where something is being recorded; on.
    Looks,
    /// On, in the sampling version, in the middle of a segment.
    Joins,
    /// The other function goes on at the place of this number.
    Leaves(u32),
    /// The loop of this number is entered from outside.
    Enters(u32),
    /// Whether the loop of this number, at whose header control is, was not left since control came
    /// over inside it. Successors: an [`End::Back`], on.
    Stays(u32),
    /// The function that control came from goes on at the header of the loop of this number.
    Back(u32),
}

/// Whether a function can be sampled: its blocks may be copied, and its back edges split. Not with `indirectbr`: plans
/// have blocks of their own, which no address is known of. O(V + E).
pub fn can_be_sampled(cfg: &Cfg, order: &Order) -> bool {
    let splits = |(e, _): (CfgEdge, BlockId)| cfg.block(e.block).terminator.can_split(e.succ);
    let jumps = |b: &BlockId| cfg.block(*b).terminator == Terminator::IndirectBr;
    can_be_copied(cfg, order) && order.back_edges(cfg).all(splits) && !order.rpo.iter().any(jumps)
}

impl SubpathPlan {
    /// The plan for a function that [`can_be_sampled`], with control flow `flow`, whose first block
    /// has number `first` among those of the program. O(V + E log degree), and what its versions
    /// take.
    pub fn new(func: FuncId, first: u32, flow: SampledFlow, of: Sequence) -> SubpathPlan {
        Draft::new(func, first, flow, of).make_plans()
    }

    /// The number, among the blocks of all functions, of a block that begins.
    pub fn number(&self, node: Node) -> u32 {
        let own = BlockId(node.origin.0 - self.offset);
        self.first + self.flow.versions.origin[own].0
    }
}

/// What a plan is of.
#[derive(Clone)]
struct Subject {
    func: FuncId,
    first: u32,
    flow: Arc<SampledFlow>,
    offset: u32,
}

/// What the plans of a function are made of, one at a time: those of a large function take more memory than its code.
pub struct Draft {
    of: Subject,
    segments: Segments,
    sequence: Sequence,
}

/// Where control passes between the function and another one that samples.
pub struct Outlining {
    /// Where the function that samples goes on, by place.
    pub places: Vec<Continuation>,
    /// The loops at whose headers the function goes on with what left it inside them.
    pub nest: Nest,
    /// Edges behind which is looked whether something is being recorded.
    calls: Vec<CfgEdge>,
}

impl Draft {
    fn new(func: FuncId, first: u32, flow: SampledFlow, sequence: Sequence) -> Draft {
        Draft {
            segments: Segments::new(&flow),
            of: Subject {
                func,
                first,
                flow: Arc::new(flow),
                offset: 0,
            },
            sequence,
        }
    }

    /// All plans at once.
    fn make_plans(&self) -> SubpathPlan {
        let apart = self.outlining().map(|outlining| OutlinedPlans {
            skipping: self.skipping_plan(&outlining),
            sampling: self.sampling(&outlining),
            places: outlining.places,
            nest: outlining.nest,
        });
        SubpathPlan {
            apart: apart.map(Box::new),
            ..self.plan_in_one_function()
        }
    }

    /// The function's blocks, short loops several times, before anything is added.
    pub fn flow(&self) -> &Versions {
        &self.of.flow.versions
    }

    /// The plan in which all versions are in one function.
    pub fn plan_in_one_function(&self) -> SubpathPlan {
        let (own, segments) = (self.flow(), &self.segments);
        let mut builder = Builder::new(&own.cfg);
        let slots = segments.longest[BlockId(0)];
        builder.entry(slots, End::Decides(slots));
        if self.sequence == Sequence::Thread {
            builder.calls(&own.cfg, &own.order);
        }
        for &(edge, to) in &segments.boundaries {
            let slots = segments.longest[to];
            builder.boundary(edge, slots, End::Decides(slots));
        }
        builder.finish_plan(self.of.clone(), Mode::Skipping)
    }

    /// Where a function of its own samples. `None` if control would go over behind landing pads.
    pub fn outlining(&self) -> Option<Outlining> {
        let (own, segments) = (self.flow(), &self.segments);
        let calls = match self.sequence {
            Sequence::Thread => edges_behind_calls(own, segments)?,
            Sequence::Activation => Vec::new(),
        };
        let begun = |block| Continuation {
            block,
            slots: Some(segments.longest[block]),
        };
        let entered = |block| Continuation { block, slots: None };
        let begun_at = segments.boundaries.iter().map(|(_, to)| begun(*to));
        let entered_at = calls.iter().map(|e| entered(own.cfg.target(*e)));
        let mut places = vec![begun(BlockId(0))];
        places.extend(begun_at.chain(entered_at));
        places.sort();
        places.dedup();
        Some(Outlining {
            places,
            nest: Nest::new(&own.cfg, &own.order),
            calls,
        })
    }

    /// [`OutlinedPlans::skipping`].
    pub fn skipping_plan(&self, Outlining { places, calls, .. }: &Outlining) -> SubpathPlan {
        let (own, segments) = (self.flow(), &self.segments);
        let leaves = |block, slots| {
            let place = places.binary_search(&Continuation { block, slots });
            End::Leaves(place.expect("a place") as u32)
        };
        let mut builder = Builder::new(&own.cfg);
        let (entry, slots) = (BlockId(0), segments.longest[BlockId(0)]);
        builder.entry(slots, leaves(entry, Some(slots)));
        for &edge in calls {
            builder.add_recording_check(edge, leaves(own.cfg.target(edge), None));
        }
        for &(edge, to) in &segments.boundaries {
            let slots = segments.longest[to];
            builder.boundary(edge, slots, leaves(to, Some(slots)));
        }
        builder.finish_plan(self.of.clone(), Mode::Skipping)
    }

    /// [`OutlinedPlans::sampling`].
    pub fn sampling(&self, outlining: &Outlining) -> SubpathPlan {
        let Outlining {
            places,
            nest,
            calls,
        } = outlining;
        let (own, segments) = (self.flow(), &self.segments);
        let cfg = with_entry(&own.cfg, places.iter().map(|p| p.block));
        let mut builder = Builder::new(&cfg);
        builder.nodes[BlockId(0)].begins = false;
        for (succ, place) in (0..).zip(places) {
            let block = BlockId(0);
            let enters = builder.add_entry(CfgEdge { block, succ }, place.slots);
            if let (Some(number), Some(_)) = (nest.find_headed_by(place.block), place.slots) {
                builder.goes_back(enters, number);
            }
        }
        let behind_entry = |CfgEdge { block, succ }| CfgEdge {
            block: BlockId(block.0 + 1),
            succ,
        };
        // Without a loop every block is told from the place on where control came over.
        if own.order.back_edges(&own.cfg).next().is_some() {
            for &edge in calls {
                builder.add_recording_check(behind_entry(edge), End::Joins);
            }
        }
        for &(edge, to) in &segments.boundaries {
            let slots = segments.longest[to];
            let decides = builder.boundary(behind_entry(edge), slots, End::Decides(slots));
            if let Some(number) = nest.find_headed_by(to) {
                builder.goes_back(decides, number);
            }
        }
        // Before all else that is on the edge.
        for (number, entered) in (0..).zip(&nest.loops) {
            for &edge in &entered.entries {
                builder.enters_loop(behind_entry(edge), number);
            }
        }
        let of = Subject {
            offset: 1,
            ..self.of.clone()
        };
        builder.finish_plan(of, Mode::Over)
    }
}

/// The edges out of blocks that call something: where they pay, that tells whether something is
/// being recorded. `None` if calls may end in landing pads. O(E log E).
fn edges_behind_calls(own: &Versions, segments: &Segments) -> Option<Vec<CfgEdge>> {
    let boundaries: BTreeSet<CfgEdge> = segments.boundaries.iter().map(|(e, _)| *e).collect();
    let mut edges = Vec::new();
    for &block in &own.order.rpo {
        let of = own.cfg.block(block);
        if of.terminator == Terminator::Invoke {
            return None;
        }
        if has_call_that_may_record(of) {
            let all = (0..of.succs.len() as u32).map(|succ| CfgEdge { block, succ });
            edges.extend(all.filter(|e| !boundaries.contains(e)));
        }
    }
    Some(edges)
}

/// Whether something may begin to be recorded, or end, inside the calls of a block.
fn has_call_that_may_record(block: &Block) -> bool {
    block.calls.iter().any(may_record)
}

/// Whether something may begin to be recorded, or end, inside a call: what it calls may be profiled, or call back.
fn may_record(call: &Call) -> bool {
    match &call.callee {
        Callee::Function(_) | Callee::Indirect => true,
        Callee::External(name) => !quiet::calls_nothing_back(name),
        Callee::Asm => false,
    }
}
