//! The function that is entered at the headers of another's loops, before it has the code of a plan.
//!
//! What is live there is handed over in memory. Such values get a place on the stack as well: they may be defined anew on another way
//! round, and no definition dominates all uses any more. Where code is made of this, optimisers take those places away again.

use super::Shadows;
use super::copy::{Copied, beside, copy_one};
use super::live::{Live, values_at};
use super::native;
use crate::dag::Order;
use crate::emit::values::{self, Inst, Value, phis};
use crate::emit::{place, sys};
use crate::index::BlockId;
use crate::ir::FunctionBody;
use crate::plan::resume::Resume;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::values::{FunctionValue, PointerValue};
use std::collections::HashMap;

/// What depends on the frame or on the parameters of the function that it is called in.
const OF_A_FRAME: [&str; 14] = [
    "llvm.addressofreturnaddress",
    "llvm.call.preallocated",
    "llvm.coro.",
    "llvm.eh.sjlj",
    "llvm.experimental.gc.",
    "llvm.frameaddress",
    "llvm.gcroot",
    "llvm.get.dynamic.area",
    "llvm.localescape",
    "llvm.localrecover",
    "llvm.returnaddress",
    "llvm.sponentry",
    "llvm.stackrestore",
    "llvm.va_start",
];

/// Parameters that only a function with the same ones could take over.
const OF_A_CALL: [&str; 5] = [
    "inalloca",
    "preallocated",
    "swifterror",
    "swiftself",
    "swiftasync",
];

/// The values that are handed over, and where.
pub(super) struct Handed<'ctx> {
    /// The headers, in the order of block 0's successors.
    pub headers: Vec<BlockId>,
    /// What is live at any of them.
    pub live: Vec<Live>,
    /// Where, by live value: an offset in the buffer, unless it is computed.
    pub live_at: Vec<Option<u64>>,
    /// The same by header and φ of the header.
    pub phis_at: Vec<Vec<u64>>,
    pub buffer: PointerValue<'ctx>,
}

impl<'ctx> Handed<'ctx> {
    /// `None` where an activation cannot go on in another function.
    pub(super) fn new(
        shadows: &mut Shadows<'_, 'ctx>,
        function: FunctionValue<'ctx>,
        body: &FunctionBody,
        order: &Order,
        resume: &Resume,
    ) -> Option<Self> {
        if !may_move(function, body) {
            return None;
        }
        let headers: Vec<BlockId> = resume.loops.iter().map(|l| l.header).collect();
        if !native::has_places(function, &headers) {
            return None;
        }
        let live = values_at(function, &body.cfg, order, &headers, &shadows.target)?;
        let blocks = function.get_basic_blocks();
        let mut room = Room(0);
        let handed = live.iter().map(|l| l.handed);
        let live_at = handed.map(|size| Some(room.take(size?))).collect();
        let mut phis_at = Vec::new();
        for header in &headers {
            let mut at = Vec::new();
            for phi in phis(blocks[header.index()]) {
                at.push(room.take(phi.value().size(&shadows.target)?));
            }
            phis_at.push(at);
        }
        let buffer = shadows.buffer(room.0);
        Some(Handed {
            headers,
            live,
            live_at,
            phis_at,
            buffer,
        })
    }

    /// The address `offset` bytes behind the buffer's beginning.
    pub(super) fn place(&self, shadows: &Shadows<'_, 'ctx>, offset: u64) -> Value {
        let offset = shadows.context.i64_type().const_int(offset, false);
        Value::of(&sys::const_address(self.buffer, offset))
    }
}

/// Memory that is given away from its beginning on, aligned to anything that is as large.
struct Room(u64);

impl Room {
    fn take(&mut self, size: u64) -> u64 {
        let at = self.0.next_multiple_of(size.next_power_of_two().min(64));
        self.0 = at + size;
        at
    }
}

fn may_move(function: FunctionValue, body: &FunctionBody) -> bool {
    let takes = |i: u32| {
        let kinds = OF_A_CALL.map(Attribute::get_named_enum_kind_id);
        let has = |kind| function.get_enum_attribute(AttributeLoc::Param(i), kind);
        kinds.into_iter().any(|kind| has(kind).is_some())
    };
    let blocks = function.get_basic_blocks();
    let mut all = blocks.iter().flat_map(|b| values::instructions(*b));
    let returns_twice = body.cfg.blocks.iter().any(|b| b.returns_twice);
    let ends_in_a_call = blocks.iter().any(|b| place::has_musttail(*b));
    !(returns_twice
        || ends_in_a_call
        || (0..function.count_params()).any(takes)
        || all.any(is_of_a_frame))
}

fn is_of_a_frame(i: Inst) -> bool {
    i.callee().is_some_and(|name| {
        let begins = |begin: &&str| name.starts_with(begin.as_bytes());
        OF_A_FRAME.iter().any(begins)
    })
}

/// The function for `of`: `f(n)` goes on at the n-th header.
pub(super) fn make<'ctx>(
    shadows: &Shadows<'_, 'ctx>,
    of: FunctionValue<'ctx>,
    body: &FunctionBody,
    handed: &Handed<'ctx>,
) -> FunctionValue<'ctx> {
    let context = shadows.context;
    let number = context.i32_type();
    let ty = match of.get_type().get_return_type() {
        Some(result) => inkwell::types::BasicType::fn_type(&result, &[number.into()], false),
        None => context.void_type().fn_type(&[number.into()], false),
    };
    let name = format!("__p3_resuming.{}", body.name);
    let function = beside(context, shadows.module, of, &name, ty);
    let entry = context.append_basic_block(function, "");
    let builder = context.create_builder();
    builder.position_at_end(entry);
    let slots = take_over(shadows, &builder, handed);
    let starts = read_phis(shadows, &builder, of, handed);
    let mut moved = Moved {
        copied: Copied::new(context, of, function, is_kept),
        slots,
        builder,
        of,
    };
    moved.mend();
    moved.enter(entry, function, handed, starts);
    function
}

/// Not what says how long variables live, which are in another frame.
fn is_kept(i: Inst) -> bool {
    let dropped = [&b"llvm.lifetime."[..], b"llvm.dbg."];
    !i.callee()
        .is_some_and(|name| dropped.iter().any(|begin| name.starts_with(begin)))
}

/// Reads or computes live values and gives them their places: by value, the block that defines it, and the place. At a header where
/// one is not live, what it is does not matter.
fn take_over<'ctx>(
    shadows: &Shadows<'_, 'ctx>,
    builder: &Builder<'ctx>,
    handed: &Handed<'ctx>,
) -> HashMap<Value, (Option<BlockId>, Value)> {
    let live = handed.live.iter();
    let slots: Vec<Value> = live
        .clone()
        .map(|l| values::room_for(builder, l.value))
        .collect();
    let mut known: HashMap<Value, Value> = HashMap::new();
    for ((l, &at), &slot) in live.clone().zip(&handed.live_at).zip(&slots) {
        let value = match at {
            Some(at) => values::load(builder, l.value, handed.place(shadows, at)),
            None => compute(builder, l.value, &known),
        };
        values::store(builder, value, slot);
        known.insert(l.value, value);
    }
    live.zip(slots)
        .map(|(l, slot)| (l.value, (l.home, slot)))
        .collect()
}

/// Computes `value` again where the builder stands.
fn compute(builder: &Builder, value: Value, known: &HashMap<Value, Value>) -> Value {
    let here = builder.get_insert_block().expect("it stands at an end");
    let old = value.instruction().expect("a parameter is handed over");
    let new = copy_one(builder, old, here);
    for (n, operand) in old.operands().into_iter().enumerate() {
        new.set_operand(n, known.get(&operand).copied().unwrap_or(operand));
    }
    new.value()
}

/// By header: what its φs begin with.
fn read_phis<'ctx>(
    shadows: &Shadows<'_, 'ctx>,
    builder: &Builder<'ctx>,
    of: FunctionValue<'ctx>,
    handed: &Handed<'ctx>,
) -> Vec<Vec<Value>> {
    let blocks = of.get_basic_blocks();
    let mut starts = Vec::new();
    for (header, at) in handed.headers.iter().zip(&handed.phis_at) {
        let phis = phis(blocks[header.index()]).zip(at);
        let read =
            phis.map(|(phi, &at)| values::load(builder, phi.value(), handed.place(shadows, at)));
        starts.push(read.collect());
    }
    starts
}

/// A copy of a function's blocks, in which live values are in memory.
struct Moved<'ctx> {
    copied: Copied<'ctx>,
    slots: HashMap<Value, (Option<BlockId>, Value)>,
    builder: Builder<'ctx>,
    of: FunctionValue<'ctx>,
}

impl<'ctx> Moved<'ctx> {
    fn mend(&mut self) {
        let numbers: HashMap<BasicBlock, BlockId> = (0..)
            .map(BlockId)
            .zip(self.of.get_basic_blocks())
            .map(|(n, block)| (block, n))
            .collect();
        let lost: HashMap<Value, Value> = self
            .of
            .get_param_iter()
            .map(|p| (Value::of(&p), values::poison(Value::of(&p))))
            .collect();
        let instructions = std::mem::take(&mut self.copied.instructions);
        // One for each block, which may lead to a φ several times.
        let mut at_ends: HashMap<(BasicBlock, Value), Value> = HashMap::new();
        for &(old, new) in &instructions {
            if old.is_phi() {
                for (v, from) in old.incoming() {
                    let to = self.copied.blocks[&from];
                    let end = || *values::instructions(to).last().expect("a terminator");
                    let read = || self.read(v, numbers[&from], end());
                    let value = *at_ends.entry((to, v)).or_insert_with(read);
                    let value = lost.get(&value).copied().unwrap_or(value);
                    new.add_incoming(value, to);
                }
            } else {
                let at = numbers[&old.block()];
                for (n, operand) in old.operands().into_iter().enumerate() {
                    let value = self.read(operand, at, new);
                    new.set_operand(n, lost.get(&value).copied().unwrap_or(value));
                }
            }
        }
        for &(old, new) in &instructions {
            if let Some(&(_, slot)) = self.slots.get(&old.value()) {
                self.keep(new, slot);
            }
        }
    }

    /// `value` as it is used in block `at` of the original: from its place, unless it is defined in that block.
    fn read(&self, value: Value, at: BlockId, before: Inst) -> Value {
        match self.slots.get(&value) {
            Some(&(home, slot)) if home != Some(at) => {
                values::stand_before(&self.builder, before);
                values::load(&self.builder, value, slot)
            }
            _ => self.copied.value(value),
        }
    }

    /// Writes what `new` defines to its place, as soon as it is there.
    fn keep(&self, new: Inst, slot: Value) {
        let all = values::instructions(new.block());
        let at = all.iter().position(|i| *i == new).expect("it is there");
        let behind = if new.is_phi() {
            Inst::of(place::start(new.block()))
        } else if let Some(next) = all.get(at + 1) {
            *next
        } else {
            // The result of an `invoke`. Where others lead to the same block, only φs use it, and those take it from the edge.
            let to = sys::successor(sys::terminator(new.block()), 0);
            if Value::of_block(to).users().len() > 1 {
                return;
            }
            Inst::of(place::start(to))
        };
        values::stand_before(&self.builder, behind);
        values::store(&self.builder, new.value(), slot);
    }

    /// Leads from `entry` to the headers.
    fn enter(
        &mut self,
        entry: BasicBlock<'ctx>,
        function: FunctionValue<'ctx>,
        handed: &Handed<'ctx>,
        starts: Vec<Vec<Value>>,
    ) {
        let blocks = self.of.get_basic_blocks();
        let copies: Vec<BasicBlock> = handed
            .headers
            .iter()
            .map(|h| self.copied.blocks[&blocks[h.index()]])
            .collect();
        for (header, values) in copies.iter().zip(starts) {
            for (phi, value) in phis(*header).zip(values) {
                phi.add_incoming(value, entry);
            }
        }
        let number = function.get_first_param().expect("it has one");
        let number = number.into_int_value();
        let case = |n: usize| number.get_type().const_int(n as u64, false);
        let cases: Vec<_> = (1..copies.len()).map(|n| (case(n), copies[n])).collect();
        self.builder.position_at_end(entry);
        self.builder
            .build_switch(number, copies[0], &cases)
            .expect("positioned");
    }
}
