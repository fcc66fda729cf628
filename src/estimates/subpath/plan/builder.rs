//! Adds the blocks in which skipping and sampling are decided.

use super::modes::Automaton;
use super::{End, Made, Mode, Node, Subject, SubpathPlan, has_call_that_may_record};
use crate::base::index::{BlockId, CfgEdge, TiVec};
use crate::input::ir::{Block, Cfg, Terminator};
use crate::paths::dag::Order;
use crate::paths::versions::Versions;

/// A control flow to which blocks are added.
pub(super) struct Builder {
    cfg: Cfg,
    made: Vec<Made>,
    pub nodes: TiVec<BlockId, Node>,
    /// By block of the function: the block that has its terminator now.
    ends: TiVec<BlockId, BlockId>,
    /// By block of the function: the one that holds what begins it.
    bodies: TiVec<BlockId, BlockId>,
}

impl Builder {
    pub(super) fn new(own: &Cfg) -> Builder {
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
            .push(Block::with_terminator(terminator, succs.to_vec()));
        BlockId::new(self.cfg.len() - 1)
    }

    /// Moves the end of block `b`, as it is now, to a new one.
    fn split_block(&mut self, b: BlockId, made: Made) -> BlockId {
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

    /// The plan of the control flow as it is now, in versions from `first_mode` on. O(V + E) of the
    /// versions.
    pub(super) fn finish_plan(self, of: Subject, first_mode: Mode) -> SubpathPlan {
        let Builder {
            cfg, made, nodes, ..
        } = self;
        let order = Order::new(&cfg);
        let automaton = Automaton::new(&cfg, &order, &nodes);
        let step = |mode, edge| automaton.step(mode, edge);
        let product = Versions::product_led(&cfg, &order, first_mode, step);
        let Subject {
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

    pub(super) fn entry(&mut self, slots: u32, negative: End) {
        let entry = BlockId(0);
        let body = self.split_block(entry, Made::Body);
        self.begins_in(entry, body);
        let decides = self.add_ending(Made::New, entry, negative, body);
        self.finish(entry, End::Pays(slots), &[decides, body]);
    }

    /// A new block for `origin` that ends so: with a way to `to` in every version that it leads to,
    /// or without any.
    fn add_ending(&mut self, made: Made, origin: BlockId, end: End, to: BlockId) -> BlockId {
        let succs = match end {
            End::Leaves(_) => vec![],
            End::Joins => vec![to],
            _ => vec![to, to],
        };
        self.add(made, origin, end, &succs)
    }

    /// Enters from another function on the edge: where it has paid, and else in the middle of a
    /// segment. The block that does.
    pub(super) fn add_entry(&mut self, edge: CfgEdge, paid: Option<u32>) -> BlockId {
        let to = self.cfg.target(edge);
        let end = paid.map_or(End::Joins, End::Decides);
        let enters = self.add_ending(Made::On(edge), edge.block, end, to);
        self.cfg.blocks[edge.block].succs[edge.succ as usize] = enters;
        enters
    }

    /// Where `decides` finds nothing to be sampled, at the header of the loop of this number, lets
    /// the other function go on.
    pub(super) fn goes_back(&mut self, decides: BlockId, number: u32) {
        let origin = self.nodes[decides].origin;
        let to = self.cfg.block(decides).succs[1];
        let back = self.add(Made::New, origin, End::Back(number), &[]);
        let stays = self.add(Made::New, origin, End::Stays(number), &[back, to]);
        self.cfg.blocks[decides].succs[1] = stays;
    }

    /// Notes on the edge, before all that was put there, that it enters the loop of this number.
    pub(super) fn enters_loop(&mut self, edge: CfgEdge, number: u32) {
        self.put_on(edge, End::Enters(number));
    }

    /// A new block on the edge, behind all that was added to the end of its block, that ends so;
    /// and where it leads, as the edge did.
    fn put_on(&mut self, edge: CfgEdge, ends: End) -> (BlockId, BlockId) {
        let end = self.ends[edge.block];
        let edge = CfgEdge { block: end, ..edge };
        let to = self.cfg.target(edge);
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
    pub(super) fn boundary(&mut self, edge: CfgEdge, slots: u32, negative: End) -> BlockId {
        self.add_question(edge, End::Pays(slots), negative)
    }

    /// Puts `question` on the edge, behind all that was added to the end of its block, and a way
    /// that ends with `answered` where the answer is yes: that is given.
    fn add_question(&mut self, edge: CfgEdge, question: End, answered: End) -> BlockId {
        let (asks, to) = self.put_on(edge, question);
        let yes = self.add_ending(Made::New, self.nodes[asks].origin, answered, to);
        self.finish(asks, question, &[yes, to]);
        yes
    }

    /// Looks behind all calls whether something is being recorded, and behind landing pads.
    pub(super) fn calls(&mut self, own: &Cfg, order: &Order) {
        for &b in &order.rpo {
            let block = own.block(b);
            if block.terminator == Terminator::Invoke {
                self.add_recording_check(CfgEdge { block: b, succ: 0 }, End::Joins);
                self.add_landing(block.succs[1]);
            } else if has_call_that_may_record(block) && !block.succs.is_empty() {
                let at = self.ends[b];
                let tail = self.split_block(at, Made::Tail(at));
                let joins = self.add(Made::New, b, End::Joins, &[tail]);
                self.finish(at, End::Looks, &[joins, tail]);
            }
        }
    }

    /// Looks on the edge whether something is being recorded.
    pub(super) fn add_recording_check(&mut self, edge: CfgEdge, recorded: End) {
        self.add_question(edge, End::Looks, recorded);
    }

    /// Once for each landing pad, which several calls may have.
    fn add_landing(&mut self, pad: BlockId) {
        if self.bodies[pad] != pad {
            return;
        }
        let rest = if self.ends[pad] == pad {
            self.split_block(pad, Made::Landed(pad))
        } else {
            // Its terminator is apart already: what is left is cut once more.
            let (end, ends) = (self.nodes[pad].end, self.ends[pad]);
            let rest = self.split_block(pad, Made::Landed(pad));
            self.nodes[rest].end = end;
            self.ends[pad] = ends;
            rest
        };
        self.begins_in(pad, rest);
        let joins = self.add(Made::New, pad, End::Joins, &[rest]);
        self.finish(pad, End::Looks, &[joins, rest]);
    }
}
