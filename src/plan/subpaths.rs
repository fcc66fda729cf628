//! Functions that are sampled: versions, *skipping* and *sampling*, between which control passes at boundaries
//! (`docs/SUBPATHS.md`).
//!
//! Between two boundaries (the entry, back edges, edges behind which much more may follow than elsewhere: [`Segments`]) an activation
//! runs along a path of the function's DAG, a *segment*. At a
//! boundary the blocks of its longest path, as many *slots*, are paid in advance out of a budget that all functions share: where
//! that makes it negative, a sample begins in one of these slots, and control goes to the sampling version. Each block
//! execution owns one slot, so each becomes the beginning of a sample with the same probability.
//!
//! Within a function control never comes back into the version that an activation begins with: its loops would have a second entry, and a code
//! generator that sees no loop keeps nothing in registers for it. It comes back into a copy of the loop at whose header nothing
//! is to be sampled any more, which is entered there alone, and leaves it for the sampling version when it leaves the loop.
//!
//! What samples is a function of its own where it can be ([`Apart`]). From that control comes back to the one that skips, at headers of loops that it did not leave
//! meanwhile ([`Nest`]).
//!
//! Short loops are several times in the control flow of which all this is said ([`Flow`]), so that they pay for several iterations at once.
//!
//! The function gets blocks for that, in front of which its versions are made as any other's.

use super::resume::with_entry;
use crate::dag::{LoopForest, Order};
use crate::index::{BlockId, CfgEdge, FuncId, TiVec};
use crate::ir::{Block, Callee, Cfg, Terminator};
use crate::versions::{Versions, can_be_copied};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

mod flow;
mod nest;
mod quiet;
mod segments;
mod text;

#[cfg(test)]
mod tests;

pub use flow::Flow;
pub use nest::{Loop, Nest};
pub use segments::Segments;
pub use text::Figures;

/// What a subpath is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// The blocks of a thread, through calls and returns.
    Thread,
    /// The blocks of each activation by itself.
    Activation,
}

/// A length of subpaths, in blocks, and how often it is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Length {
    /// The number of blocks.
    pub blocks: u32,
    /// Of 2^32 samples, how many are expected to have it.
    pub chance: u64,
}

impl Length {
    /// The probability that a sample has it.
    pub fn probability(self) -> f64 {
        self.chance as f64 / (1u64 << 32) as f64
    }
}

/// How the list of hot subpaths is kept in its memory (Gibbons & Matias, SIGMOD 1998).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HotList {
    /// A concise sample: points are drawn the more rarely, the more often memory was full.
    #[default]
    Concise,
    /// A counting sample: points are drawn as often as at first, and those of a subpath all count from the one on by which it came to be listed.
    Counting,
}

impl HotList {
    fn is_concise(&self) -> bool {
        *self == HotList::Concise
    }
}

/// How subpaths were sampled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// The mean number of block executions between the beginnings of two samples, at first.
    pub period: u64,
    /// The lengths, ascending.
    pub lengths: Vec<Length>,
    /// Whether a subpath is one of an activation by itself, callees left out.
    pub within_functions: bool,
    /// How the list is kept.
    #[serde(default, skip_serializing_if = "HotList::is_concise")]
    pub list: HotList,
}

impl Sampling {
    /// Whether it can have been chosen: lengths ascending from 2 on, chances that add up.
    pub fn is_sound(&self) -> bool {
        let chances: u64 = self.lengths.iter().map(|l| l.chance.min(1 << 33)).sum();
        self.period > 0
            && self.lengths.iter().all(|l| l.blocks >= 1 && l.chance > 0)
            && self.lengths.windows(2).all(|w| w[0].blocks < w[1].blocks)
            && chances == 1 << 32
    }

    /// Lengths with chances in proportion to their number of blocks to the power of `-bias`. `None` where one would never be chosen.
    pub fn biased(lengths: &[u32], bias: f64) -> Option<Vec<Length>> {
        let weight = |&l: &u32| f64::from(l).powf(-bias);
        let sum: f64 = lengths.iter().map(weight).sum();
        let whole = (1u64 << 32) as f64;
        let chance = |l: &u32| Length {
            blocks: *l,
            chance: (weight(l) / sum * whole).round() as u64,
        };
        let mut lengths: Vec<Length> = lengths.iter().map(chance).collect();
        // What rounding left goes to the most frequent one.
        let rounded: u64 = lengths.iter().map(|l| l.chance).sum();
        let most = lengths.iter_mut().max_by_key(|l| l.chance)?;
        most.chance = (most.chance + (1 << 32)).checked_sub(rounded)?;
        let chosen = lengths.iter().all(|l| l.chance > 0);
        chosen.then_some(lengths)
    }
}

/// How a program is sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Period, lengths and kind of subpaths.
    pub sampling: Sampling,
    /// Bytes of the hot list, with what finds its entries.
    pub memory: u64,
    /// The seed, of this copy; `None`: each process draws one.
    pub seed: Option<u64>,
}

/// A plan in which the sampling version is a function of its own, so that the other one has neither its registers nor its frame.
#[derive(Clone, Debug)]
pub struct Apart {
    /// The function: where something is to be sampled it calls the other one.
    pub skipping: SubpathPlan,
    /// The other one, whose block 0 leads to the places where it goes on; the function's blocks follow in their order.
    pub sampling: SubpathPlan,
    /// These places.
    pub places: Vec<Place>,
    /// The loops at whose headers the function goes on with what left it inside them.
    pub nest: Nest,
}

/// Where one function goes on with what another one began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// At this block, before anything was added: the entry, or where an edge leads.
    pub block: BlockId,
    /// The slots of the segment that begins there; `None` in the middle of one, of which nothing is to be sampled.
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
    pub flow: Arc<Flow>,
    /// How far blocks are numbered behind those of `flow`: by one, where block 0 is nothing of the function's.
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
    /// The same in two functions, if control goes over at the beginning of blocks alone: not behind landing pads.
    pub apart: Option<Box<Apart>>,
}

/// The versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Nothing was recorded so far.
    Skipping,
    /// Nothing is recorded since control reached this header of the new control flow, and while it is in its loop.
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
    /// A segment begins: this many slots are paid. Successors: an [`End::Decides`], where that made the budget negative; on.
    Pays(u32),
    /// The runtime is asked whether the segment of so many slots that begins is to be sampled. Successors: sampled, skipped.
    Decides(u32),
    /// Behind a call. Successors: an [`End::Joins`], where something is being recorded; on.
    Looks,
    /// On, in the sampling version, in the middle of a segment.
    Joins,
    /// The other function goes on at the place of this number.
    Leaves(u32),
    /// The loop of this number is entered from outside.
    Enters(u32),
    /// Whether the loop of this number, at whose header control is, was not left since control came over inside it. Successors: an [`End::Back`], on.
    Stays(u32),
    /// The function that control came from goes on at the header of the loop of this number.
    Back(u32),
}

/// Whether a function can be sampled: its blocks may be copied, and its back edges split. O(V + E).
pub fn can_be_sampled(cfg: &Cfg, order: &Order) -> bool {
    let splits = |(e, _): (CfgEdge, BlockId)| cfg.block(e.block).terminator.can_split(e.succ);
    can_be_copied(cfg, order) && order.back_edges(cfg).all(splits)
}

impl SubpathPlan {
    /// The plan for a function that [`can_be_sampled`], with control flow `flow`, whose first block has number `first`
    /// among those of the program. O(V + E log degree), and what its versions take.
    pub fn new(func: FuncId, first: u32, flow: Flow, of: Sequence) -> SubpathPlan {
        let segments = Segments::new(&flow);
        let from = From {
            func,
            first,
            flow: Arc::new(flow),
            offset: 0,
        };
        let own = &from.flow.versions;
        let mut builder = Builder::new(&own.cfg);
        let slots = segments.longest[BlockId(0)];
        builder.entry(slots, End::Decides(slots));
        if of == Sequence::Thread {
            builder.calls(&own.cfg, &own.order);
        }
        for &(edge, to) in &segments.boundaries {
            let slots = segments.longest[to];
            builder.boundary(edge, slots, End::Decides(slots));
        }
        let apart = Apart::new(&from, &segments, of).map(Box::new);
        SubpathPlan {
            apart,
            ..builder.finished(from, Mode::Skipping)
        }
    }

    /// The number, among the blocks of all functions, of a block that begins.
    pub fn number(&self, node: Node) -> u32 {
        let own = BlockId(node.origin.0 - self.offset);
        self.first + self.flow.versions.origin[own].0
    }
}

/// What a plan is of.
#[derive(Clone)]
struct From {
    func: FuncId,
    first: u32,
    flow: Arc<Flow>,
    offset: u32,
}

impl Apart {
    fn new(of: &From, segments: &Segments, sequence: Sequence) -> Option<Apart> {
        let own = &of.flow.versions;
        let calls = match sequence {
            Sequence::Thread => edges_behind_calls(own, segments)?,
            Sequence::Activation => Vec::new(),
        };
        let begun = |block| Place {
            block,
            slots: Some(segments.longest[block]),
        };
        let entered = |block| Place { block, slots: None };
        let begun_at = segments.boundaries.iter().map(|(_, to)| begun(*to));
        let entered_at = calls.iter().map(|e| entered(own.cfg.behind(*e)));
        let mut places = vec![begun(BlockId(0))];
        places.extend(begun_at.chain(entered_at));
        places.sort();
        places.dedup();
        let leaves = |p: Place| End::Leaves(places.binary_search(&p).expect("a place") as u32);
        let mut builder = Builder::new(&own.cfg);
        builder.entry(segments.longest[BlockId(0)], leaves(begun(BlockId(0))));
        for &edge in &calls {
            builder.looks(edge, leaves(entered(own.cfg.behind(edge))));
        }
        for &(edge, to) in &segments.boundaries {
            builder.boundary(edge, segments.longest[to], leaves(begun(to)));
        }
        let skipping = builder.finished(of.clone(), Mode::Skipping);
        let cfg = with_entry(&own.cfg, places.iter().map(|p| p.block));
        let mut builder = Builder::new(&cfg);
        builder.nodes[BlockId(0)].begins = false;
        let nest = Nest::new(&own.cfg, &own.order);
        for (succ, place) in (0..).zip(&places) {
            let block = BlockId(0);
            let enters = builder.enters(CfgEdge { block, succ }, place.slots);
            if let (Some(number), Some(_)) = (nest.of(place.block), place.slots) {
                builder.goes_back(enters, number);
            }
        }
        let behind_entry = |CfgEdge { block, succ }| CfgEdge {
            block: BlockId(block.0 + 1),
            succ,
        };
        for &edge in &calls {
            builder.looks(behind_entry(edge), End::Joins);
        }
        for &(edge, to) in &segments.boundaries {
            let slots = segments.longest[to];
            let decides = builder.boundary(behind_entry(edge), slots, End::Decides(slots));
            if let Some(number) = nest.of(to) {
                builder.goes_back(decides, number);
            }
        }
        // Before all else that is on the edge.
        for (number, entered) in (0..).zip(&nest.loops) {
            for &edge in &entered.entries {
                builder.enters_loop(behind_entry(edge), number);
            }
        }
        let of = From {
            offset: 1,
            ..of.clone()
        };
        let sampling = builder.finished(of, Mode::Over);
        Some(Apart {
            skipping,
            sampling,
            places,
            nest,
        })
    }
}

/// The edges out of blocks that call something: where they pay, that tells whether something is being recorded. `None` if calls may end
/// in landing pads. O(E log E).
fn edges_behind_calls(own: &Versions, segments: &Segments) -> Option<Vec<CfgEdge>> {
    let boundaries: BTreeSet<CfgEdge> = segments.boundaries.iter().map(|(e, _)| *e).collect();
    let mut edges = Vec::new();
    for &block in &own.order.rpo {
        let of = own.cfg.block(block);
        if of.terminator == Terminator::Invoke {
            return None;
        }
        if may_record(of) {
            let all = (0..of.succs.len() as u32).map(|succ| CfgEdge { block, succ });
            edges.extend(all.filter(|e| !boundaries.contains(e)));
        }
    }
    Some(edges)
}

/// How many loops around each other are copied to be resumed: all blocks are in two versions more than that at most.
const RESUMED: usize = 8;

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
    fn hold(&self, header: BlockId, b: BlockId) -> bool {
        let (header, b) = (self.position(header), self.position(b));
        self.forest.holds(header, b)
    }

    /// The version in which `header`, or what is no header, is entered with nothing to record. O([`RESUMED`]).
    fn resumed(&self, header: BlockId) -> Mode {
        let at = self.position(header);
        if self.forest.is_header[at as usize] && self.forest.around(at).nth(RESUMED).is_none() {
            Mode::Resumed(header)
        } else {
            Mode::Sampling
        }
    }
}

struct Builder {
    cfg: Cfg,
    made: Vec<Made>,
    nodes: TiVec<BlockId, Node>,
    /// By block of the function: the block that has its terminator now.
    ends: TiVec<BlockId, BlockId>,
    /// By block of the function: the one that holds what begins it.
    bodies: TiVec<BlockId, BlockId>,
}

impl Builder {
    fn new(own: &Cfg) -> Builder {
        let node = |origin| Node {
            origin,
            begins: true,
            end: End::Own,
        };
        Builder {
            cfg: own.clone(),
            made: Vec::new(),
            nodes: own.ids().map(node).collect(),
            ends: own.ids().collect(),
            bodies: own.ids().collect(),
        }
    }

    /// Adds a block for `origin`.
    fn add(&mut self, made: Made, origin: BlockId, end: End, succs: &[BlockId]) -> BlockId {
        let terminator = match succs {
            [] => Terminator::Return,
            [_] => Terminator::Jump,
            _ => Terminator::Branch,
        };
        self.made.push(made);
        self.nodes.push(Node {
            origin,
            begins: false,
            end,
        });
        self.cfg
            .blocks
            .push(Block::ending(terminator, succs.to_vec()));
        BlockId::new(self.cfg.len() - 1)
    }

    /// Moves the end of block `b`, as it is now, to a new one.
    fn cut(&mut self, b: BlockId, made: Made) -> BlockId {
        let Node { origin, end, .. } = self.nodes[b];
        let rest = self.add(made, origin, end, &[]);
        let Block {
            terminator, succs, ..
        } = &mut self.cfg.blocks[b];
        let (terminator, succs) = (*terminator, std::mem::take(succs));
        self.cfg.blocks[rest].terminator = terminator;
        self.cfg.blocks[rest].succs = succs;
        self.ends[origin] = rest;
        rest
    }

    /// Makes block `b` end with `end`, and a way to each of `succs`.
    fn finish(&mut self, b: BlockId, end: End, succs: &[BlockId]) {
        self.nodes[b].end = end;
        self.cfg.blocks[b].terminator = Terminator::Branch;
        self.cfg.blocks[b].succs = succs.to_vec();
    }

    /// The plan of the control flow as it is now, in versions from `first_mode` on. O(V + E) of the versions.
    fn finished(self, of: From, first_mode: Mode) -> SubpathPlan {
        let Builder {
            cfg, made, nodes, ..
        } = self;
        let order = Order::new(&cfg);
        let loops = Loops::new(&cfg, &order);
        let stays = |b: BlockId| matches!(nodes[b].end, End::Stays(_));
        let next = |mode, e: CfgEdge| match (nodes[e.block].end, e.succ, mode) {
            (End::Decides(_), 0, _) | (End::Joins, _, _) => Mode::Sampling,
            (End::Decides(_), _, _) if stays(cfg.behind(e)) => mode,
            (End::Stays(_), 0, _) => mode,
            (End::Decides(_) | End::Stays(_), _, Mode::Sampling | Mode::Over) => {
                loops.resumed(cfg.behind(e))
            }
            // Seldom, and a loop that is entered again from outside has one back edge less.
            (End::Decides(_) | End::Stays(_), _, Mode::Skipping | Mode::Resumed(_)) => {
                Mode::Sampling
            }
            (_, _, Mode::Resumed(header)) if !loops.hold(header, cfg.behind(e)) => Mode::Sampling,
            _ => mode,
        };
        let product = Versions::product(&cfg, &order, first_mode, next);
        let From {
            func,
            first,
            flow,
            offset,
        } = of;
        SubpathPlan {
            func,
            first,
            flow,
            offset,
            made,
            nodes,
            versions: product.versions,
            modes: product.states,
            apart: None,
            cfg,
        }
    }

    fn entry(&mut self, slots: u32, negative: End) {
        let entry = BlockId(0);
        let body = self.cut(entry, Made::Body);
        self.begins_in(entry, body);
        let decides = self.left(Made::New, entry, negative, body);
        self.finish(entry, End::Pays(slots), &[decides, body]);
    }

    /// A new block for `origin` that ends so: with a way to `to` in every version that it leads to, or without any.
    fn left(&mut self, made: Made, origin: BlockId, end: End, to: BlockId) -> BlockId {
        let succs = match end {
            End::Leaves(_) => vec![],
            End::Joins => vec![to],
            _ => vec![to, to],
        };
        self.add(made, origin, end, &succs)
    }

    /// Enters from another function on the edge: where it has paid, and else in the middle of a segment. The block that does.
    fn enters(&mut self, edge: CfgEdge, paid: Option<u32>) -> BlockId {
        let to = self.cfg.behind(edge);
        let end = paid.map_or(End::Joins, End::Decides);
        let enters = self.left(Made::On(edge), edge.block, end, to);
        self.cfg.blocks[edge.block].succs[edge.succ as usize] = enters;
        enters
    }

    /// Where `decides` finds nothing to be sampled, at the header of the loop of this number, lets the other function go on.
    fn goes_back(&mut self, decides: BlockId, number: u32) {
        let origin = self.nodes[decides].origin;
        let to = self.cfg.block(decides).succs[1];
        let back = self.add(Made::New, origin, End::Back(number), &[]);
        let stays = self.add(Made::New, origin, End::Stays(number), &[back, to]);
        self.cfg.blocks[decides].succs[1] = stays;
    }

    /// Notes on the edge, before all that was put there, that it enters the loop of this number.
    fn enters_loop(&mut self, edge: CfgEdge, number: u32) {
        self.put_on(edge, End::Enters(number));
    }

    /// A new block on the edge, behind all that was added to the end of its block, that ends so; and where it leads, as the edge did.
    fn put_on(&mut self, edge: CfgEdge, ends: End) -> (BlockId, BlockId) {
        let end = self.ends[edge.block];
        let edge = CfgEdge { block: end, ..edge };
        let to = self.cfg.behind(edge);
        let new = self.add(Made::On(edge), self.nodes[end].origin, ends, &[to]);
        self.cfg.blocks[end].succs[edge.succ as usize] = new;
        (new, to)
    }

    /// What begins block `own` is in `rest` from now on.
    fn begins_in(&mut self, own: BlockId, rest: BlockId) {
        self.nodes[self.bodies[own]].begins = false;
        self.nodes[rest].begins = true;
        self.bodies[own] = rest;
    }

    /// Pays on the edge; the block behind it where that made the budget negative.
    fn boundary(&mut self, edge: CfgEdge, slots: u32, negative: End) -> BlockId {
        self.asks(edge, End::Pays(slots), negative)
    }

    /// Puts `question` on the edge, behind all that was added to the end of its block, and a way that ends with `answered` where
    /// the answer is yes: that is given.
    fn asks(&mut self, edge: CfgEdge, question: End, answered: End) -> BlockId {
        let (asks, to) = self.put_on(edge, question);
        let yes = self.left(Made::New, self.nodes[asks].origin, answered, to);
        self.finish(asks, question, &[yes, to]);
        yes
    }

    /// Looks behind all calls whether something is being recorded, and behind landing pads.
    fn calls(&mut self, own: &Cfg, order: &Order) {
        for &b in &order.rpo {
            let block = own.block(b);
            if block.terminator == Terminator::Invoke {
                self.looks(CfgEdge { block: b, succ: 0 }, End::Joins);
                self.landed(block.succs[1]);
            } else if may_record(block) && !block.succs.is_empty() {
                let at = self.ends[b];
                let tail = self.cut(at, Made::Tail(at));
                let joins = self.add(Made::New, b, End::Joins, &[tail]);
                self.finish(at, End::Looks, &[joins, tail]);
            }
        }
    }

    /// Looks on the edge whether something is being recorded.
    fn looks(&mut self, edge: CfgEdge, recorded: End) {
        self.asks(edge, End::Looks, recorded);
    }

    /// Once for each landing pad, which several calls may have.
    fn landed(&mut self, pad: BlockId) {
        if self.bodies[pad] != pad {
            return;
        }
        let rest = if self.ends[pad] == pad {
            self.cut(pad, Made::Landed(pad))
        } else {
            // Its terminator is apart already: what is left is cut once more.
            let (end, ends) = (self.nodes[pad].end, self.ends[pad]);
            let rest = self.cut(pad, Made::Landed(pad));
            self.nodes[rest].end = end;
            self.ends[pad] = ends;
            rest
        };
        self.begins_in(pad, rest);
        let joins = self.add(Made::New, pad, End::Joins, &[rest]);
        self.finish(pad, End::Looks, &[joins, rest]);
    }
}

/// Whether something may begin to be recorded, or end, inside the calls of a block.
fn may_record(block: &Block) -> bool {
    block.calls.iter().any(|c| match &c.callee {
        Callee::Function(_) | Callee::Indirect => true,
        Callee::External(name) => !quiet::calls_nothing_back(name),
        Callee::Asm => false,
    })
}
