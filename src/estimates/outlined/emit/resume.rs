//! The function that is entered at the headers of another's loops, before it has the code of a plan. What is said of
//! headers holds for any blocks at whose start control can go over.
//!
//! What is live there is handed over in memory. Such values get a place on the stack as well: they may be defined anew
//! on another way round, and no definition dominates all uses any more. Where code is made of this, optimisers take
//! those places away again. What code generators compute wherever it is used is computed there: what has several
//! definitions they would keep in registers.

use super::copied::{Copied, copy_one};
use super::copy::declare_beside;
use super::handed::Handed;
use super::jumps;
use super::live::{How, Live};
use super::moved::{Kept, Moved, Reading};
use crate::base::index::{BlockId, TiSlice};
use crate::write::emit::edit::Edit;
use crate::write::emit::llvm;
use crate::write::emit::llvm::inst::{self, Inst, phis};
use crate::write::emit::llvm::value::Value;
use inkwell::AddressSpace;
use inkwell::attributes::AttributeLoc;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::types::{BasicMetadataTypeEnum, BasicType, FunctionType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, CallSiteValue, FunctionValue, PointerValue,
};
use rustc_hash::FxHashMap;

/// The memory in which values are handed over.
pub(crate) enum Buffer<'ctx> {
    /// It is always the same.
    Known(PointerValue<'ctx>),
    /// Its address is the second parameter.
    Told,
}

/// Ends the block where the builder stands with a call, whose result is the function's; `tail`: it may take the
/// function's frame.
pub(crate) fn return_call<'ctx>(
    builder: &Builder<'ctx>,
    callee: FunctionValue<'ctx>,
    arguments: &[BasicMetadataValueEnum<'ctx>],
    tail: Tail,
) {
    let call = call_of(builder, callee, arguments);
    if tail == Tail::Jump {
        llvm::mark_tail(call);
    }
    return_value(builder, call.try_as_basic_value().basic());
}

/// Calls a function of ours. Code generators jump only where a call says that its result is extended as that of the
/// function is.
pub(crate) fn call_of<'ctx>(
    builder: &Builder<'ctx>,
    callee: FunctionValue<'ctx>,
    arguments: &[BasicMetadataValueEnum<'ctx>],
) -> CallSiteValue<'ctx> {
    let call = builder.build_call(callee, arguments, "");
    let call = call.expect("positioned");
    for attribute in callee.attributes(AttributeLoc::Return) {
        call.add_attribute(AttributeLoc::Return, attribute);
    }
    call
}

/// Ends the block where the builder stands with the function's result, if it has one.
pub(crate) fn return_value<'ctx>(builder: &Builder<'ctx>, result: Option<BasicValueEnum<'ctx>>) {
    let result = result.as_ref().map(|r| r as &dyn BasicValue);
    builder.build_return(result).expect("positioned");
}

/// What becomes of the frame of a function that ends with a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// The call takes its place.
    Jump,
    /// It is there until the call returns.
    Kept,
}

impl Tail {
    /// Of a function with these blocks.
    pub(crate) fn choose(blocks: &TiSlice<BlockId, BasicBlock>) -> Tail {
        if has_frame(blocks) {
            Tail::Kept
        } else {
            Tail::Jump
        }
    }
}

/// The address `offset` bytes behind the beginning of the buffer.
pub(crate) fn place_in<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    buffer: PointerValue<'ctx>,
    offset: u64,
) -> Value {
    let offset = context.i64_type().const_int(offset, false);
    Value::from_inkwell(&llvm::field_address(builder, buffer, offset))
}

/// Whether there are variables on the stack, which a jump to another function would end.
fn has_frame(blocks: &TiSlice<BlockId, BasicBlock>) -> bool {
    let mut all = blocks.iter().flat_map(|b| inst::instructions(*b));
    all.any(|i| i.opcode() == LLVMOpcode::LLVMAlloca)
}

/// The function `name` for `of`: `f(n)` goes on at the n-th header; `f(n, buffer)` where the buffer is told.
pub(crate) fn make_resume_function<'ctx>(
    edit: Edit<'_, 'ctx>,
    of: FunctionValue<'ctx>,
    name: &str,
    handed: &Handed,
    buffer: Buffer<'ctx>,
) -> FunctionValue<'ctx> {
    let context = edit.context;
    let number = context.i32_type().into();
    let address = context.ptr_type(AddressSpace::default()).into();
    let parameters = match buffer {
        Buffer::Known(_) => vec![number],
        Buffer::Told => vec![number, address],
    };
    let function = declare_beside(edit, of, name, returning_as(context, of, &parameters));
    let buffer = match buffer {
        Buffer::Known(buffer) => buffer,
        Buffer::Told => {
            let told = function.get_nth_param(1).expect("it is told");
            told.into_pointer_value()
        }
    };
    let entry = context.append_basic_block(function, "");
    let builder = context.create_builder();
    builder.position_at_end(entry);
    let from = LiveInReader {
        context,
        builder: &builder,
        buffer,
    };
    let kept = take_over(&from, handed);
    let starts = read_phis(&from, of, handed);
    let mut moved = Moved {
        copied: Copied::new(context, of, function, is_kept),
        kept,
        builder,
        of,
    };
    moved.mend();
    jumps::translate(edit, of, &moved.copied);
    moved.enter_headers(entry, function, handed, starts);
    function
}

/// The type of a function with these parameters that gives what `of` gives.
pub(crate) fn returning_as<'ctx>(
    context: &'ctx Context,
    of: FunctionValue<'ctx>,
    parameters: &[BasicMetadataTypeEnum<'ctx>],
) -> FunctionType<'ctx> {
    match of.get_type().get_return_type() {
        Some(result) => result.fn_type(parameters, false),
        None => context.void_type().fn_type(parameters, false),
    }
}

/// Where values are read: what the builder makes reads them from the buffer.
struct LiveInReader<'a, 'ctx> {
    context: &'ctx Context,
    builder: &'a Builder<'ctx>,
    buffer: PointerValue<'ctx>,
}

impl LiveInReader<'_, '_> {
    fn read(&self, like: Value, offset: u64) -> Value {
        let place = place_in(self.context, self.builder, self.buffer, offset);
        inst::load_value(self.builder, like, place)
    }
}

/// Not what says how long variables live, which are in another frame.
fn is_kept(i: Inst) -> bool {
    let dropped = [&b"llvm.lifetime."[..], b"llvm.dbg."];
    !i.callee()
        .is_some_and(|name| dropped.iter().any(|begin| name.starts_with(begin)))
}

/// Reads or computes live values, and gives them their places. At a header where one is not live, what it is does not
/// matter.
fn take_over(from: &LiveInReader, handed: &Handed) -> FxHashMap<Value, Kept> {
    let builder = from.builder;
    // What is handed over stays what it is where no block defines it anew: it needs no place.
    let needs_slot = |l: &Live| l.how != How::Folded && l.home.is_some();
    let slot = |l: &Live| needs_slot(l).then(|| inst::room_for(builder, l.value));
    let slots: Vec<Option<Value>> = handed.live.iter().map(slot).collect();
    let mut known: FxHashMap<Value, Value> = FxHashMap::default();
    let mut kept = FxHashMap::default();
    for (l, at) in handed.live.iter().zip(&handed.live_at) {
        if let Some(at) = at {
            known.insert(l.value, from.read(l.value, *at));
        }
    }
    for (l, slot) in handed.live.iter().zip(slots) {
        let value = match l.how {
            How::Handed(_) => known[&l.value],
            How::Computed | How::Folded => compute(builder, l.value, &known),
            How::SumLess { of, by } => subtract_constant(builder, known[&of.value()], by),
        };
        let from = match slot {
            Some(slot) => {
                inst::store_value(builder, value, slot);
                Reading::Slot(slot)
            }
            None if l.home.is_none() => Reading::Known(value),
            None => Reading::Computed,
        };
        known.insert(l.value, value);
        kept.insert(l.value, Kept { home: l.home, from });
    }
    kept
}

/// What `sum` is without the constant that was added.
fn subtract_constant(builder: &Builder, sum: Value, by: Value) -> Value {
    let (sum, by) = (
        sum.to_inkwell().into_int_value(),
        by.to_inkwell().into_int_value(),
    );
    Value::from_inkwell(&builder.build_int_sub(sum, by, "").expect("positioned"))
}

/// Computes `value` again where the builder stands.
fn compute(builder: &Builder, value: Value, known: &FxHashMap<Value, Value>) -> Value {
    let here = builder.get_insert_block().expect("it stands at an end");
    let old = value.instruction().expect("a parameter is handed over");
    let new = copy_one(builder, old, here);
    for (n, operand) in old.operands().into_iter().enumerate() {
        new.set_operand(n, known.get(&operand).copied().unwrap_or(operand));
    }
    new.value()
}

/// By header: what its φs begin with, the same whichever way leads there.
fn read_phis(from: &LiveInReader, of: FunctionValue, handed: &Handed) -> Vec<Vec<Value>> {
    let blocks = llvm::blocks(of);
    let mut by_header: FxHashMap<BlockId, Vec<Value>> = FxHashMap::default();
    for (header, at) in handed.headers.iter().zip(&handed.phis_at) {
        let phis = phis(blocks[*header]).zip(at);
        let read = |(phi, at): (Inst, &u64)| {
            let handed_over = from.read(phi.value(), *at);
            let shifts = &handed.shifts;
            shifts.shifted_back(from.builder, phi.value(), handed_over)
        };
        let read = || phis.map(read).collect();
        by_header.entry(*header).or_insert_with(read);
    }
    let starts = handed.headers.iter().map(|h| by_header[h].clone());
    starts.collect()
}
