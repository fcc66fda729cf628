//! One function: its path register as SSA values, and its counts.
//!
//! Where all counts go to an array, the register holds the address of a counter, unless LLVM would add jumps for
//! that ([`sets_before_branches`]): `r = c` loads an address instead of a number, `r += c` adds bytes, and a count is
//! one instruction, where position-independent code needs two for an array and an index. Where what follows counts in a
//! hash table alone, the register holds a key ([`hashed`], [`register`]). Elsewhere it holds an id.

mod forks;
mod hashed;
mod register;
pub(super) mod tail;

use super::data::Data;
use super::layout::Storage;
use super::llvm::inst::Inst;
use super::llvm::{self, Blocks};
use super::own::Own;
use super::place::{self, Place};
use super::split::{Places, split_edges};
use super::steps;
use super::versions;
use crate::base::index::{BlockId, CfgEdge, TiSlice, TiVec};
use crate::copies::plan::keys::Keys;
use crate::copies::plan::register::Registers;
use crate::copies::plan::{FunctionPlan, Op, Site, Table};
use crate::input::ir::{Cfg, FunctionBody};
use inkwell::AddressSpace;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::types::{BasicTypeEnum, IntType};
use inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, InstructionValue, IntValue, PhiValue, PointerValue,
};
use register::{Held, find_keys};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
pub(crate) use tail::{Tails, return_at_once};

/// Inserts the code of `plan`, the job's plan number `index`, into `function`. O(blocks + code).
pub(crate) fn instrument_function<'ctx>(
    data: &Data<'_, 'ctx>,
    function: FunctionValue<'ctx>,
    body: &FunctionBody,
    plan: &FunctionPlan,
    index: usize,
) {
    let context = data.edit.context;
    let mut blocks = llvm::blocks(function);
    check_shape(&blocks, body);
    let mut cfg = &body.cfg;
    if let Some(versions) = &plan.versions {
        blocks = versions::copy_blocks(context, function, cfg, versions);
        cfg = &versions.cfg;
    }
    for (block, weights) in &plan.branches {
        llvm::set_branch_weights(context, llvm::terminator(blocks[*block]), weights);
    }
    let builder = context.create_builder();
    let (hits, fork_slot) = (data.hit_slot(index), data.fork_slot(index));
    let tails = match hits {
        None => return_at_once(&builder, &blocks, cfg, &plan.order().rpo, |block, to| {
            let edge = Site::Edge(CfgEdge { block, succ: 0 });
            // A child notes the end of its path there, also where the path is counted earlier.
            fork_slot.is_some()
                || !plan.ops(edge).is_empty()
                || !plan.ops(Site::Exit(to)).is_empty()
        }),
        Some(_) => Tails::new(),
    };
    let counts = !data.calls || hits.is_some() || fork_slot.is_some();
    let own = data.find_own(index, blocks[BlockId(0)], counts);
    if let Some(slot) = fork_slot {
        forks::count_forks(data, own, (&body.cfg, plan), (&blocks, &tails), slot);
    }
    let branches = |ops: &[Op]| data.is_cached() && plan.table.hashes_any(ops);
    let places = split_edges(context, &blocks, cfg, plan, &tails, branches);
    let registers = Registers::new(cfg, plan.order(), plan);
    let keys = Keys::for_ids(plan.table.ids());
    let holds_address = !sets_before_branches(cfg, plan, &places);
    let mut emitter = Emitter {
        context,
        builder,
        cfg,
        plan,
        data,
        own,
        storage: data.storage(index),
        entries: data.entry_slot(index).filter(|_| plan.entries),
        hits,
        blocks,
        places,
        tails,
        phis: BTreeMap::new(),
        after: FxHashMap::default(),
        flagged: FxHashMap::default(),
        hashed: FxHashMap::default(),
        keys,
        is_key: find_keys(cfg, plan.order(), plan, &registers),
        registers,
        i64: context.i64_type(),
        register: match plan.table {
            Table::Array { .. } if holds_address => {
                context.ptr_type(AddressSpace::default()).into()
            }
            _ => context.i64_type().into(),
        },
    };
    emitter.emit_plan();
    if plan.versions.is_some() {
        steps::join_back_edges(context, cfg, &emitter.blocks, &emitter.places);
    }
}

/// Whether a constant is loaded on one of several ways out of a block, without a block of its own. LLVM loads a number
/// before such a branch, for all ways out, but an address behind a jump on its own way.
fn sets_before_branches(cfg: &Cfg, plan: &FunctionPlan, places: &Places) -> bool {
    places.of.iter().any(|(edge, place)| {
        let sets = |op: &Op| matches!(op, Op::Set(_));
        *place == Place::Source
            && cfg.block(edge.block).succs.len() > 1
            && plan.ops(Site::Edge(*edge)).iter().any(sets)
    })
}

/// The view and the function must have the same shape.
fn check_shape(blocks: &TiSlice<BlockId, BasicBlock>, body: &FunctionBody) {
    assert_eq!(blocks.len(), body.cfg.len(), "{}: blocks", body.name);
    for (block, view) in blocks.iter().zip(&body.cfg.blocks) {
        let n = llvm::successor_count(llvm::terminator(*block)) as usize;
        assert_eq!(n, view.succs.len(), "{}: successors", body.name);
    }
}

/// How a count is emitted.
#[derive(Clone, Copy)]
enum How<'ctx> {
    /// In place.
    Here,
    /// With a branch: the code stands at the end of a block that has no terminator yet, and goes on
    /// in this one.
    Branch(BasicBlock<'ctx>),
    /// Not here: the id is noted for the target of this edge.
    Flag(CfgEdge),
}

/// A counter of the module.
#[derive(Clone, Copy)]
enum Counter<'ctx> {
    /// By its slot.
    Slot(u64),
    /// By its address in the first thread.
    Address(PointerValue<'ctx>),
}

struct Emitter<'a, 'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    cfg: &'a Cfg,
    plan: &'a FunctionPlan,
    data: &'a Data<'a, 'ctx>,
    own: Own<'ctx>,
    storage: Storage,
    /// The slots that count entries and executed probes.
    entries: Option<u64>,
    hits: Option<u64>,
    blocks: Blocks<'ctx>,
    places: Places<'ctx>,
    /// The blocks that return themselves.
    tails: Tails<'ctx>,
    registers: Registers,
    /// By block, in order: what their entries need is made in blocks that several of them may share.
    phis: BTreeMap<BlockId, PhiValue<'ctx>>,
    /// The register's value behind edges with code.
    after: FxHashMap<CfgEdge, Held<'ctx>>,
    /// The counters that edges which cannot be split bring to be increased in their target …
    flagged: FxHashMap<CfgEdge, PointerValue<'ctx>>,
    /// … and the keys for the hash table.
    hashed: FxHashMap<CfgEdge, IntValue<'ctx>>,
    /// What the hash table knows ids by.
    keys: Keys,
    /// By block: whether the path register is a key there.
    is_key: TiVec<BlockId, bool>,
    i64: IntType<'ctx>,
    /// The type of the path register where it is an id.
    register: BasicTypeEnum<'ctx>,
}

impl<'ctx> Emitter<'_, 'ctx> {
    fn emit_plan(&mut self) {
        if let Some(slot) = self.hits {
            self.count_hits(Counter::Slot(slot));
        }
        self.make_phis();
        self.emit_entry();
        let plan = self.plan;
        for &b in &plan.order().rpo {
            for succ in 0..self.cfg.block(b).succs.len() as u32 {
                self.emit_edge(CfgEdge { block: b, succ });
            }
            self.emit_exit(b);
        }
        self.fill_phis();
        self.count_flagged();
    }

    fn emit_entry(&mut self) {
        let ops = self.plan.ops(Site::Entry);
        if ops.is_empty() && self.entries.is_none() {
            return;
        }
        llvm::position_before(
            &self.builder,
            place::entry_of_block(self.blocks[BlockId(0)]),
        );
        if let Some(slot) = self.entries {
            self.increment_counter(Counter::Slot(slot), self.constant(1));
        }
        self.emit_ops(ops, None, How::Here, self.is_key[BlockId(0)]);
    }

    fn emit_edge(&mut self, edge: CfgEdge) {
        if let Some(&call) = self.tails.get(&edge.block) {
            return self.emit_tail(edge, call);
        }
        let Some(&place) = self.places.of.get(&edge) else {
            return;
        };
        let to = self.cfg.target(edge);
        match place {
            Place::Source | Place::Flagged => {
                let end = llvm::terminator(self.blocks[edge.block]);
                llvm::position_before(&self.builder, end);
            }
            Place::Target => {
                let (source, target) = (self.blocks[edge.block], self.blocks[to]);
                let at = place::find_start_behind_comparisons(target, source);
                llvm::position_before(&self.builder, at);
            }
            Place::Own => {
                let block = self.places.own[&edge];
                llvm::position_before(&self.builder, llvm::terminator(block));
            }
        }
        let before = self.register_for(edge.block, self.is_key[to]);
        let ops = self.plan.ops(Site::Edge(edge));
        let how = match place {
            Place::Flagged => How::Flag(edge),
            Place::Own if self.needs_branches(ops) => {
                let block = self.places.own[&edge];
                let source = llvm::terminator(self.blocks[edge.block]);
                let head = self.context.prepend_basic_block(block, "p3.count");
                llvm::set_successor(source, edge.succ, head);
                self.builder.position_at_end(head);
                How::Branch(block)
            }
            _ => How::Here,
        };
        if let Some(after) = self.emit_ops(ops, before, how, self.is_key[to]) {
            self.after.insert(edge, after);
        }
    }

    fn emit_exit(&mut self, b: BlockId) {
        let ops = self.plan.ops(Site::Exit(b));
        let is_reached = b == BlockId(0) || !self.places.ins[b].is_empty();
        if ops.is_empty() || !is_reached {
            return;
        }
        let place = place::exit_of_block(self.blocks[b]);
        self.end_path(b, ops, place);
    }

    /// The code of an edge whose source returns itself, and of the exit that it led to, in front of the call.
    fn emit_tail(&mut self, edge: CfgEdge, call: InstructionValue<'ctx>) {
        let exit = self.plan.ops(Site::Exit(self.cfg.target(edge)));
        let ops = [self.plan.ops(Site::Edge(edge)), exit].concat();
        self.end_path(edge.block, &ops, call);
    }

    /// Emits `ops`, behind which a path is over, at `place` in block `b`, which has no successors.
    fn end_path(&mut self, b: BlockId, ops: &[Op], place: InstructionValue<'ctx>) {
        let end = llvm::terminator(self.blocks[b]);
        let is_by_return = place == end || Inst::from_inkwell(end).opcode() == LLVMOpcode::LLVMRet;
        let how = if self.needs_branches(ops) && is_by_return {
            self.split_before(self.blocks[b], place)
        } else {
            llvm::position_before(&self.builder, place);
            How::Here
        };
        self.emit_ops(ops, self.register_at(b), how, self.plan.table.hashes());
    }

    /// Moves what stands in `block` from `place` on, to its end without successors, to a block behind it, where code
    /// goes on that the builder makes now.
    fn split_before(&self, block: BasicBlock<'ctx>, place: InstructionValue<'ctx>) -> How<'ctx> {
        let rest = self.context.insert_basic_block_after(block, "p3.exit");
        let mut next = Some(Inst::from_inkwell(place));
        while let Some(i) = next {
            next = i.next_in_block();
            i.move_to(&self.builder, rest);
        }
        self.builder.position_at_end(block);
        How::Branch(rest)
    }

    fn constant(&self, c: i64) -> IntValue<'ctx> {
        self.i64.const_int(c as u64, true)
    }

    /// Emits `ops` where the builder stands; returns the register's value behind them, which is a key if `is_key` where
    /// they set it or add to it.
    fn emit_ops(
        &mut self,
        ops: &[Op],
        before: Option<Held<'ctx>>,
        how: How<'ctx>,
        is_key: bool,
    ) -> Option<Held<'ctx>> {
        let mut register = before;
        let table = self.plan.table;
        let last = ops.iter().rposition(|&op| table.hashes_op(op));
        for (i, op) in ops.iter().enumerate() {
            let read = || register.expect("the plan sets the register before it reads it");
            match *op {
                Op::Set(c) => {
                    register = Some(self.register_value(c, is_key));
                }
                Op::Add(c) => {
                    let before = self.convert_to_key(read(), is_key);
                    register = Some(self.register_sum(before, c));
                }
                _ if table.hashes_op(*op) => {
                    let key = self.key(*op, register);
                    let is_last = Some(i) == last;
                    self.count_key(key, how, is_last);
                }
                Op::Count(c) | Op::CountInWindow(c) => {
                    let held = match read() {
                        Held::Key(key) => Held::Id(self.id_of(key, c).into()),
                        id @ Held::Id(_) => self.register_sum(id, c),
                    };
                    let address = self.find_counter_address(held);
                    self.count_at(Counter::Address(address), how);
                }
                Op::CountConst(id) => self.count_at(Counter::Slot(self.first_slot() + id), how),
            }
        }
        register
    }

    /// Counts in the array.
    fn count_at(&mut self, counter: Counter<'ctx>, how: How<'ctx>) {
        match how {
            How::Flag(edge) => drop(self.flagged.insert(edge, self.address(counter))),
            _ => self.increment_counter(counter, self.constant(1)),
        }
    }

    /// Where the counter is in the first thread.
    fn address(&self, counter: Counter<'ctx>) -> PointerValue<'ctx> {
        match counter {
            Counter::Slot(slot) => self.data.counter(slot),
            Counter::Address(address) => address,
        }
    }

    /// Whether `ops` are emitted with branches.
    fn needs_branches(&self, ops: &[Op]) -> bool {
        self.data.is_cached() && self.plan.table.hashes_any(ops)
    }

    fn add_value(&self, value: IntValue<'ctx>, by: IntValue<'ctx>) -> IntValue<'ctx> {
        if by == by.get_type().const_zero() {
            return value;
        }
        let sum = self.builder.build_int_add(value, by, "p3.r");
        sum.expect("positioned")
    }

    /// The address of the counter of `id`, an id of the array.
    fn counter(&self, id: u64) -> PointerValue<'ctx> {
        self.data.counter(self.first_slot() + id)
    }

    /// The slot of id 0.
    fn first_slot(&self) -> u64 {
        self.storage.array.expect("an id of an array")
    }

    /// The counter that the register stands for.
    fn find_counter_address(&self, register: Held<'ctx>) -> PointerValue<'ctx> {
        match register {
            Held::Key(_) => unreachable!("a count in the array reads a key"),
            Held::Id(BasicValueEnum::IntValue(id)) => {
                llvm::element_address(&self.builder, self.counter(0), id)
            }
            Held::Id(address) => address.into_pointer_value(),
        }
    }

    /// Adds `by` to a counter of the module.
    fn increment_counter(&self, counter: Counter<'ctx>, by: IntValue<'ctx>) {
        let b = &self.builder;
        if self.data.calls && by == self.constant(1) {
            let add = self.data.add_function();
            b.build_call(add, &[self.address(counter).into()], "")
                .expect("positioned");
            return;
        }
        let own = match counter {
            Counter::Slot(slot) => self.data.own_counter(b, self.own, slot),
            Counter::Address(address) => self.own.address(b, address),
        };
        self.data.add_to(b, own, by, true);
    }

    /// The block from which edge `e` arrives at its target.
    fn arrival(&self, e: CfgEdge) -> BasicBlock<'ctx> {
        self.places.arrival(&self.blocks, e)
    }

    /// Adds up executed probes: each block learns by a φ how many were on the edge it was reached by.
    fn count_hits(&self, counter: Counter<'ctx>) {
        let number = |site| self.constant(self.plan.ops(site).len() as i64);
        let zero = self.constant(0);
        let entry = number(Site::Entry);
        if entry != zero {
            llvm::position_before(
                &self.builder,
                place::entry_of_block(self.blocks[BlockId(0)]),
            );
            self.increment_counter(counter, entry);
        }
        for b in self.cfg.ids() {
            let (block, exit) = (self.blocks[b], number(Site::Exit(b)));
            if exit != zero {
                llvm::position_before(&self.builder, place::exit_of_block(block));
                self.increment_counter(counter, exit);
            }
            let on = |e: &CfgEdge| number(Site::Edge(self.cfg.taken_edge(*e)));
            let ins = &self.places.ins[b];
            if ins.iter().all(|e| on(e) == zero) {
                continue;
            }
            let number = match ins.as_slice() {
                [only] => on(only),
                _ => {
                    let phi = llvm::phi_at_start(&self.builder, block, self.i64, "p3.hits");
                    for e in ins {
                        phi.add_incoming(&[(&on(e) as &dyn BasicValue, self.arrival(*e))]);
                    }
                    phi.as_basic_value().into_int_value()
                }
            };
            llvm::position_before(&self.builder, place::start_of_block(block));
            self.increment_counter(counter, number);
        }
    }

    /// Counts, in the targets of edges that cannot be split, what those edges bring. An edge that
    /// brings nothing increments a counter (or names an id) that does not exist for the runtime.
    fn count_flagged(&self) {
        for to in self.targets(&self.flagged) {
            self.count_flagged_array(to);
        }
        for to in self.targets(&self.hashed) {
            self.count_flagged_hash(to);
        }
    }

    /// Where the edges lead, ascending.
    fn targets<T>(&self, edges: &FxHashMap<CfgEdge, T>) -> BTreeSet<BlockId> {
        let target = |e: &CfgEdge| self.cfg.target(*e);
        edges.keys().map(target).collect()
    }

    fn count_flagged_array(&self, to: BlockId) {
        let ty = self.context.ptr_type(AddressSpace::default());
        let phi = llvm::phi_at_start(&self.builder, self.blocks[to], ty, "p3.slot");
        // φ entries of one block must be one value: repeats of an edge share what the first computed.
        for &e in &self.places.ins[to] {
            let (from, first) = (self.arrival(e), self.cfg.taken_edge(e));
            let slot = match self.flagged.get(&first) {
                Some(&slot) => slot,
                None => self.data.trash_slot(),
            };
            phi.add_incoming(&[(&slot as &dyn BasicValue, from)]);
        }
        llvm::position_before(&self.builder, place::start_of_block(self.blocks[to]));
        let address = phi.as_basic_value().into_pointer_value();
        self.increment_counter(Counter::Address(address), self.constant(1));
    }
}
