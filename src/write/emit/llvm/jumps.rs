//! Jumps that something else patches in, and what functions that are jumped to need.
#![cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use all of it")
)]

use inkwell::InlineAsmDialect;
use inkwell::attributes::Attribute;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage};
use inkwell::module::Module;
use inkwell::types::AsTypeRef;
use inkwell::values::{AsValueRef, CallSiteValue, FunctionValue, GlobalValue, PointerValue};

/// Ends the block that the builder stands at the end of: assembler code, behind which control goes on in `next`, or in
/// `other`, which the code knows as `${1:l}`; the symbol at `known` is `${0:c}`.
pub(crate) fn jump_that_can_be_patched<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    code: &str,
    known: PointerValue<'ctx>,
    next: BasicBlock<'ctx>,
    other: BasicBlock<'ctx>,
) {
    let ty = context
        .void_type()
        .fn_type(&[known.get_type().into()], false);
    let (code, constraints) = (code.to_string(), "i,!i".to_string());
    let dialect = Some(InlineAsmDialect::ATT);
    let code = context.create_inline_asm(ty, code, constraints, true, false, dialect, false);
    let (mut others, mut operands) = ([other.as_mut_ptr()], [known.as_value_ref()]);
    // Its edges say all that it does.
    let kind = Attribute::get_named_enum_kind_id;
    let attributes =
        ["memory", "nounwind"].map(|name| context.create_enum_attribute(kind(name), 0));
    // SAFETY: the builder stands at the end of a block of the function that both others belong to; the constraints name
    // one operand and one label; no operand bundle is given.
    unsafe {
        let call = LLVMBuildCallBr(
            builder.as_mut_ptr(),
            ty.as_type_ref(),
            code.as_value_ref(),
            next.as_mut_ptr(),
            others.as_mut_ptr(),
            1,
            operands.as_mut_ptr(),
            1,
            std::ptr::null_mut(),
            0,
            c"".as_ptr(),
        );
        for attribute in attributes {
            LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, attribute.as_mut_ptr());
        }
    }
}

/// Lets a call be a jump.
pub(crate) fn mark_tail(call: CallSiteValue) {
    // SAFETY: it is a live call.
    unsafe { LLVMSetTailCall(call.as_value_ref(), 1) }
}

/// Gives `to` what handles exceptions and collects garbage in `from`.
pub(crate) fn copy_personality(from: FunctionValue, to: FunctionValue) {
    let (from, to) = (from.as_value_ref(), to.as_value_ref());
    // SAFETY: both are live functions; a name of a collector is NUL-terminated and copied.
    unsafe {
        if LLVMHasPersonalityFn(from) != 0 {
            LLVMSetPersonalityFn(to, LLVMGetPersonalityFn(from));
        }
        let collector = LLVMGetGC(from);
        if !collector.is_null() {
            LLVMSetGC(to, collector);
        }
    }
}

/// Puts `new` in the place of `old`, which goes.
pub(crate) fn replace_global(old: GlobalValue, new: GlobalValue) {
    // SAFETY: both are live globals of one module, addressed by pointers of one type; the caller gives `old` up.
    unsafe {
        LLVMReplaceAllUsesWith(old.as_value_ref(), new.as_value_ref());
        LLVMDeleteGlobal(old.as_value_ref());
    }
}

/// Another name of `of`, which nothing outside the module sees and nothing can take the place of.
pub(crate) fn alias<'ctx>(
    module: &Module<'ctx>,
    of: FunctionValue<'ctx>,
    name: &str,
) -> PointerValue<'ctx> {
    let name = std::ffi::CString::new(name).expect("symbols hold no NUL");
    // SAFETY: module and function are live; the alias belongs to the module, and is a pointer.
    unsafe {
        let ty = of.get_type().as_type_ref();
        let alias = LLVMAddAlias2(module.as_mut_ptr(), ty, 0, of.as_value_ref(), name.as_ptr());
        LLVMSetLinkage(alias, LLVMLinkage::LLVMInternalLinkage);
        PointerValue::new(alias)
    }
}

/// The address of a block of `of` that is not its first.
pub(crate) fn block_address<'ctx>(
    of: FunctionValue<'ctx>,
    block: BasicBlock<'ctx>,
) -> PointerValue<'ctx> {
    // SAFETY: the block is one of the function's, which is live; the constant is a pointer.
    unsafe { PointerValue::new(LLVMBlockAddress(of.as_value_ref(), block.as_mut_ptr())) }
}

/// Makes all addresses of block `old` of `of` those of its block `new`, in code and data.
pub(crate) fn move_address<'ctx>(
    of: FunctionValue<'ctx>,
    old: BasicBlock<'ctx>,
    new: BasicBlock<'ctx>,
) {
    let [old, new] = [old, new].map(|b| block_address(of, b).as_value_ref());
    // SAFETY: both are live constants of one type.
    unsafe { LLVMReplaceAllUsesWith(old, new) }
}
