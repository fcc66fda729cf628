//! What sampled functions use of the runtime, and what tells it how they are sampled.

use crate::estimates::data::subpaths::{HotList, Settings};
use crate::runtime::abi;
use crate::write::emit::data::described_global;
use crate::write::emit::edit::Edit;
use crate::write::emit::shared::{runtime_function, runtime_global, struct_value};
use inkwell::ThreadLocalMode;
use inkwell::types::IntType;
use inkwell::values::{BasicValueEnum, FunctionValue, GlobalValue, IntValue, PointerValue};

/// What is left of the budget of the thread, in block executions ([`abi::BUDGET`]).
pub(super) fn budget<'ctx>(edit: Edit<'_, 'ctx>) -> PointerValue<'ctx> {
    let word = edit.context.i64_type();
    let budget = runtime_global(edit.module, abi::BUDGET, word.into());
    budget.set_thread_local_mode(Some(ThreadLocalMode::InitialExecTLSModel));
    budget.as_pointer_value()
}

/// The runtime's function that decides at boundaries. (One that keeps its callers' registers, as
/// [`crate::write::emit::data::Data::missed_function`], makes the skipping version slower: fewer values leave registers
/// where it is called, and more everywhere else.)
pub(super) fn boundary_function<'ctx>(edit: Edit<'_, 'ctx>) -> FunctionValue<'ctx> {
    runtime_function(edit, &abi::SUBPATH_BOUNDARY)
}

/// The runtime's function that is told of blocks.
pub(super) fn block_function<'ctx>(edit: Edit<'_, 'ctx>) -> FunctionValue<'ctx> {
    runtime_function(edit, &abi::SUBPATH_BLOCK)
}

/// How subpaths are sampled, for the runtime.
pub(super) fn describe<'ctx>(edit: Edit<'_, 'ctx>, settings: &Settings) -> GlobalValue<'ctx> {
    let (i32, i64) = (edit.context.i32_type(), edit.context.i64_type());
    let size = |n: u64| i64.const_int(n, false).into();
    let word = |n: u32| i32.const_int(u64::from(n), false).into();
    let sampling = &settings.sampling;
    let lengths = sampling.lengths.iter().map(|l| u64::from(l.blocks));
    let lengths = padded_array(i64, lengths);
    let chances = padded_array(i64, sampling.lengths.iter().map(|l| l.chance));
    let within = u32::from(sampling.within_functions) * abi::WITHIN;
    let seeded = settings.seed.map_or(0, |_| abi::SEEDED);
    let counting = u32::from(sampling.list == HotList::Counting) * abi::COUNTING;
    let values = [
        ("period", size(sampling.period)),
        ("seed", size(settings.seed.unwrap_or(0))),
        ("memory", size(settings.memory)),
        ("flags", word(within | seeded | counting)),
        ("n_lengths", word(sampling.lengths.len() as u32)),
        ("lengths", lengths),
        ("chances", chances),
    ];
    let value = struct_value(edit.context, &abi::SAMPLING, values);
    described_global(edit.module, value.into(), "__p3_sampling")
}

/// An array of [`abi::MOST_LENGTHS`] numbers, with zeros behind those that are given.
fn padded_array<'ctx>(
    i64: IntType<'ctx>,
    numbers: impl Iterator<Item = u64>,
) -> BasicValueEnum<'ctx> {
    let all = numbers.chain(std::iter::repeat(0));
    let all = all.take(abi::MOST_LENGTHS as usize);
    let all: Vec<IntValue> = all.map(|n| i64.const_int(n, false)).collect();
    i64.const_array(&all).into()
}
