//! Functions copied whole: what counts is a function beside the one that does not.

use super::copied::Copied;
use super::jumps;
use crate::write::emit::edit::Edit;
use crate::write::emit::llvm;
use crate::write::emit::llvm::inst::{self};
use inkwell::attributes::{Attribute, AttributeLoc};
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
