//! Blocks of one function copied into another.

use crate::write::emit::llvm::inst::{self, Inst};
use crate::write::emit::llvm::value::Value;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::values::FunctionValue;
use rustc_hash::FxHashMap;

/// Blocks in another function, with the operands of their originals, and φs without entries.
pub(crate) struct Copied<'ctx> {
    /// By block of the original.
    pub blocks: FxHashMap<BasicBlock<'ctx>, BasicBlock<'ctx>>,
    /// Originals and copies, in order.
    pub instructions: Vec<(Inst, Inst)>,
    map: FxHashMap<Value, Value>,
}

impl<'ctx> Copied<'ctx> {
    /// Appends the blocks of `from` to `to`, with the instructions that are `wanted`. They have no locations: those are
    /// of another function. O(instructions).
    pub(crate) fn new(
        context: &'ctx Context,
        from: FunctionValue<'ctx>,
        to: FunctionValue<'ctx>,
        wanted: impl Fn(Inst) -> bool,
    ) -> Self {
        let builder = context.create_builder();
        let assigned = context.get_kind_id("DIAssignID");
        let mut copied = Copied {
            blocks: FxHashMap::default(),
            instructions: Vec::new(),
            map: FxHashMap::default(),
        };
        for block in from.get_basic_blocks() {
            let copy = context.append_basic_block(to, "");
            copied.blocks.insert(block, copy);
            let (old, new) = (Value::of_block(block), Value::of_block(copy));
            copied.map.insert(old, new);
        }
        for block in from.get_basic_blocks() {
            let all = inst::instructions(block).into_iter();
            for old in all.filter(|i| wanted(*i)) {
                let new = copy_one(&builder, old, copied.blocks[&block]);
                // It names debug records, which are not copied.
                new.drop_metadata(assigned);
                copied.map.insert(old.value(), new.value());
                copied.instructions.push((old, new));
            }
        }
        copied
    }

    /// What stands for `value` in the copy: itself, if it is of no function.
    pub(crate) fn value(&self, value: Value) -> Value {
        self.map.get(&value).copied().unwrap_or(value)
    }
}

/// A copy of one instruction at the end of `to`, without a location.
pub(crate) fn copy_one<'ctx>(builder: &Builder<'ctx>, old: Inst, to: BasicBlock<'ctx>) -> Inst {
    let new = if old.is_phi() {
        let phi = inst::phi_at_end(builder, to, old.value());
        phi.look_like(old);
        phi
    } else {
        builder.position_at_end(to);
        old.copy_here(builder)
    };
    new.drop_location();
    new
}
