//! Jumps to addresses of blocks, in functions that stand beside the one whose blocks they are.
//!
//! The addresses that a program keeps are those of the native function's blocks, wherever they were taken. A copy looks
//! them up and goes on in its own block of the same origin.

use super::copied::Copied;
use crate::runtime::abi;
use crate::write::emit::edit::Edit;
use crate::write::emit::llvm;
use crate::write::emit::{data, shared};
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::{BasicValueEnum, FunctionValue, GlobalValue, PointerValue};
use std::collections::HashSet;

/// Makes each `indirectbr` of the copy of `of` a lookup and a `switch` with the same successors in the same order: the
/// first is the default, and the others have their numbers. Of repeats of one target only the first is ever taken.
/// O(targets).
pub(crate) fn translate<'ctx>(
    edit: Edit<'_, 'ctx>,
    of: FunctionValue<'ctx>,
    copied: &Copied<'ctx>,
) {
    let context = edit.context;
    let jumps = copied.instructions.iter();
    let jumps = jumps.filter(|(old, _)| old.opcode() == LLVMOpcode::LLVMIndirectBr);
    let builder = context.create_builder();
    for (number, &(old, new)) in jumps.enumerate() {
        let end = llvm::terminator(old.block());
        let natives = (0..llvm::successor_count(end)).map(|i| llvm::successor(end, i));
        let natives: Vec<BasicBlock> = natives.collect();
        let table = table(edit, of, number, &natives);
        let lookup = shared::runtime_function(edit, &abi::JUMP);
        let address: BasicValueEnum = new.operands()[0].to_inkwell();
        llvm::position_before(&builder, llvm::terminator(new.block()));
        let call = builder.build_call(lookup, &[table.into(), address.into()], "");
        let index = call.expect("positioned").try_as_basic_value().basic();
        let index = index.expect("it gives a number").into_int_value();
        let case = |n: usize| index.get_type().const_int(n as u64, false);
        let targets = natives.iter().map(|b| copied.blocks[b]).enumerate();
        let cases: Vec<_> = targets.skip(1).map(|(n, b)| (case(n), b)).collect();
        let first = copied.blocks[&natives[0]];
        builder
            .build_switch(index, first, &cases)
            .expect("positioned");
        new.erase();
    }
}

/// The table of the function's jump of this number, made where there is none yet.
fn table<'ctx>(
    edit: Edit<'_, 'ctx>,
    of: FunctionValue<'ctx>,
    number: usize,
    targets: &[BasicBlock<'ctx>],
) -> PointerValue<'ctx> {
    let Edit { context, module } = edit;
    let name = |what| format!("__p3_{what}.{number}.{}", of.get_name().to_string_lossy());
    let made = module.get_global(&name("jumps"));
    let table = made.unwrap_or_else(|| {
        let mut seen = HashSet::new();
        let address = |b: &BasicBlock<'ctx>| {
            // What an address finds is a block, so that no two may have one.
            if seen.insert(*b) {
                llvm::block_address(of, *b)
            } else {
                shared::pointer(context).const_null()
            }
        };
        let addresses: Vec<PointerValue> = targets.iter().map(address).collect();
        let addresses = shared::pointer(context).const_array(&addresses);
        let addresses = data::described_global(module, addresses.into(), &name("targets"));
        let bits = (2 * targets.len()).next_power_of_two().ilog2().max(1);
        let slots = context.i32_type().array_type(1 << bits);
        let slots = data::zeroed_global(module, slots, &name("slots"));
        let word = |n: u32| context.i32_type().const_int(n.into(), false).into();
        let at = |global: GlobalValue<'ctx>| global.as_pointer_value().into();
        let values: [(_, BasicValueEnum); 4] = [
            ("n", word(targets.len() as u32)),
            ("bits", word(bits)),
            ("targets", at(addresses)),
            ("slots", at(slots)),
        ];
        let record = shared::struct_value(context, &abi::JUMPS, values);
        data::described_global(module, record.into(), &name("jumps"))
    });
    table.as_pointer_value()
}
