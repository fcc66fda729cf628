//! Functions copied whole: what counts is a function beside the one that does not.

use super::jumps;
use crate::write::emit::edit::Edit;
use crate::write::emit::llvm;
use crate::write::emit::llvm::inst::{self, Inst};
use crate::write::emit::llvm::value::Value;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::Linkage;
use inkwell::types::FunctionType;
use inkwell::values::FunctionValue;
use rustc_hash::FxHashMap;

/// A function of the module alone, without a body, that runs as `of` does.
pub(crate) fn declare_beside<'ctx>(
    edit: Edit<'_, 'ctx>,
    of: FunctionValue<'ctx>,
    name: &str,
    ty: FunctionType<'ctx>,
) -> FunctionValue<'ctx> {
    let Edit { context, module } = edit;
    let copy = module.add_function(name, ty, Some(Linkage::Internal));
    for at in [AttributeLoc::Function, AttributeLoc::Return] {
        for attribute in of.attributes(at) {
            copy.add_attribute(at, attribute);
        }
    }
    if ty != of.get_type() {
        // It names parameters.
        let kind = Attribute::get_named_enum_kind_id("allocsize");
        copy.remove_enum_attribute(AttributeLoc::Function, kind);
    }
    forbid_inlining(context, copy);
    llvm::copy_personality(of, copy);
    copy
}

/// Keeps a function from being inlined.
pub(crate) fn forbid_inlining(context: &Context, f: FunctionValue) {
    let kind = Attribute::get_named_enum_kind_id;
    f.remove_enum_attribute(AttributeLoc::Function, kind("alwaysinline"));
    let noinline = context.create_enum_attribute(kind("noinline"), 0);
    f.add_attribute(AttributeLoc::Function, noinline);
}

/// A copy of the function with its parameters.
pub(crate) fn copy_function<'ctx>(
    edit: Edit<'_, 'ctx>,
    of: FunctionValue<'ctx>,
    name: &str,
) -> FunctionValue<'ctx> {
    let copy = declare_beside(edit, of, name, of.get_type());
    copy.set_call_conventions(of.get_call_conventions());
    let mut parameters = FxHashMap::default();
    let pairs = inst::parameters(of).into_iter().zip(inst::parameters(copy));
    for (i, (old, new)) in (0..).zip(pairs) {
        for attribute in of.attributes(AttributeLoc::Param(i)) {
            copy.add_attribute(AttributeLoc::Param(i), attribute);
        }
        parameters.insert(old, new);
    }
    let copied = Copied::new(edit.context, of, copy, |_| true);
    let value = |v| match parameters.get(&v) {
        Some(&parameter) => parameter,
        None => copied.value(v),
    };
    for &(old, new) in &copied.instructions {
        if old.is_phi() {
            for (v, from) in old.incoming() {
                new.add_incoming(value(v), copied.blocks[&from]);
            }
        } else {
            for (n, operand) in old.operands().into_iter().enumerate() {
                new.set_operand(n, value(operand));
            }
        }
    }
    jumps::translate(edit, of, &copied);
    copy
}

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
