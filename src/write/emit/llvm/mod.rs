//! What inkwell lacks, straight from the LLVM C API.
#![allow(unsafe_code)]

pub(super) mod bound;
mod exit;
pub(crate) mod inst;
mod jumps;
mod metadata;
pub(super) mod parsed;
pub(super) mod process;
pub(super) mod session;
pub(crate) mod value;
pub(super) mod view;

pub(crate) use jumps::block_address;
#[cfg(feature = "estimates")]
pub(crate) use jumps::{
    alias, copy_personality, jump_that_can_be_patched, mark_tail, move_address, replace_global,
};
pub(crate) use metadata::{
    Meta, add_module_flag, debug_info_version, has_module_flag, set_branch_weights,
    set_function_profile, set_header_weight,
};

use crate::base::index::{BlockId, TiVec};
use inkwell::attributes::Attribute;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions,
    LLVMPassBuilderOptionsSetSLPVectorization, LLVMRunPasses,
};
use inkwell::llvm_sys::{LLVMOpcode, LLVMTailCallKind};
use inkwell::module::Module;
use inkwell::targets::{TargetData, TargetMachine};
use inkwell::types::BasicType;
use inkwell::values::{
    AsValueRef, FunctionValue, GlobalValue, InstructionValue, IntValue, PhiValue, PointerValue,
};
use inst::Inst;
use value::Value;

/// The functions of a module that have a body, in order: the ordinals of the loader's view.
pub(crate) fn definitions<'ctx>(
    module: &Module<'ctx>,
) -> impl Iterator<Item = FunctionValue<'ctx>> {
    module
        .get_functions()
        .filter(|f| Value::from_inkwell(f).is_definition())
}

/// The number of successors of a terminator.
pub(crate) fn successor_count(terminator: InstructionValue) -> u32 {
    // SAFETY: the caller got it from `BasicBlock::get_terminator`.
    unsafe { LLVMGetNumSuccessors(terminator.as_value_ref()) }
}

/// A function's blocks, by their numbers in its control flow.
pub(crate) type Blocks<'ctx> = TiVec<BlockId, BasicBlock<'ctx>>;

/// The blocks of a function, which has those of its control flow and no others yet.
pub(crate) fn blocks(function: FunctionValue<'_>) -> Blocks<'_> {
    function.get_basic_blocks().into()
}

/// How large types are on the target of a module.
#[cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use it")
)]
pub(crate) fn target_of(module: &Module) -> TargetData {
    TargetData::create(&module.get_data_layout().as_str().to_string_lossy())
}

/// The terminator of a block.
pub(crate) fn terminator(block: BasicBlock) -> InstructionValue {
    block.get_terminator().expect("a block has a terminator")
}

/// Successor `i` of a terminator.
pub(crate) fn successor<'ctx>(terminator: InstructionValue<'ctx>, i: u32) -> BasicBlock<'ctx> {
    assert!(i < successor_count(terminator));
    // SAFETY: `i` is in range; a successor is a block of the same function.
    let block = unsafe { BasicBlock::new(LLVMGetSuccessor(terminator.as_value_ref(), i)) };
    block.expect("a successor is a block")
}

/// Positions the builder before an instruction and the debug records that belong to it, and takes its location.
pub(crate) fn position_before<'ctx>(builder: &Builder<'ctx>, at: InstructionValue<'ctx>) {
    // Tells inkwell that the builder is positioned.
    builder.position_before(&at);
    // SAFETY: `at` is a live instruction in a block.
    unsafe {
        LLVMPositionBuilderBeforeInstrAndDbgRecords(builder.as_mut_ptr(), at.as_value_ref());
    }
}

/// Redirects successor `i` of a terminator. Updating φs is up to the caller.
pub(crate) fn set_successor(terminator: InstructionValue, i: u32, to: BasicBlock) {
    assert!(i < successor_count(terminator));
    // SAFETY: `i` is in range, both belong to one function.
    unsafe { LLVMSetSuccessor(terminator.as_value_ref(), i, to.as_mut_ptr()) }
}

/// Whether a call is marked `musttail`.
pub(crate) fn is_musttail(call: InstructionValue) -> bool {
    Inst::from_inkwell(call).opcode() == LLVMOpcode::LLVMCall
        // SAFETY: it is a call.
        && unsafe { LLVMGetTailCallKind(call.as_value_ref()) }
            == LLVMTailCallKind::LLVMTailCallKindMustTail
}

/// The name of the function that a call site calls directly.
pub(crate) fn callee_name(call: InstructionValue) -> Option<String> {
    let callee = Value::from_inkwell(&call).called_function()?;
    Some(String::from_utf8_lossy(&callee.name()).into_owned())
}

/// Whether a call may return a second time, as `setjmp` does.
pub(crate) fn returns_twice(call: InstructionValue) -> bool {
    let call = Value::from_inkwell(&call);
    let kind = Attribute::get_named_enum_kind_id("returns_twice");
    let is_declared = call
        .called_function()
        .is_some_and(|f| f.has_attribute(kind));
    is_declared || call.has_call_attribute(kind)
}

/// The address of element `index` of an array of 64-bit integers.
pub(crate) fn element_address<'ctx>(
    builder: &Builder<'ctx>,
    base: PointerValue<'ctx>,
    index: IntValue<'ctx>,
) -> PointerValue<'ctx> {
    let i64_type = index.get_type();
    // SAFETY: plans count ids below the table's size only, and the array was made that large.
    unsafe { builder.build_in_bounds_gep(i64_type, base, &[index], "") }.expect("positioned")
}

/// The address `offset` bytes behind `base`, which may lie outside what `base` points to.
pub(crate) fn offset_address<'ctx>(
    builder: &Builder<'ctx>,
    base: PointerValue<'ctx>,
    offset: IntValue<'ctx>,
) -> PointerValue<'ctx> {
    let byte = offset.get_type().get_context().i8_type();
    // SAFETY: an address that is not said to be in bounds may be any.
    unsafe { builder.build_gep(byte, base, &[offset], "p3.r") }.expect("positioned")
}

/// The address `offset` bytes behind `base`, inside what `base` points to: for 0 `base`, without an instruction.
pub(crate) fn field_address<'ctx>(
    builder: &Builder<'ctx>,
    base: PointerValue<'ctx>,
    offset: IntValue<'ctx>,
) -> PointerValue<'ctx> {
    if offset.get_zero_extended_constant() == Some(0) {
        return base;
    }
    let byte = offset.get_type().get_context().i8_type();
    // SAFETY: the caller's offsets are inside the object.
    unsafe { builder.build_in_bounds_gep(byte, base, &[offset], "") }.expect("positioned")
}

/// A constant address inside a global: byte-typed, so `offset` counts bytes.
pub(crate) fn const_address<'ctx>(
    base: PointerValue<'ctx>,
    offset: IntValue<'ctx>,
) -> PointerValue<'ctx> {
    let byte = offset.get_type().get_context().i8_type();
    // SAFETY: the caller's offsets are inside the global that `base` is.
    unsafe { base.const_in_bounds_gep(byte, &[offset]) }
}

/// The constant address `offset` bytes behind `base`, which may lie outside what `base` points to.
pub(crate) fn const_moved<'ctx>(
    base: PointerValue<'ctx>,
    offset: IntValue<'ctx>,
) -> PointerValue<'ctx> {
    let byte = offset.get_type().get_context().i8_type();
    // SAFETY: an address that is not said to be in bounds may be any.
    unsafe { base.const_gep(byte, &[offset]) }
}

/// The constant address of element `index` of the array that begins at `base`.
pub(crate) fn const_element<'ctx>(
    base: PointerValue<'ctx>,
    element: impl BasicType<'ctx>,
    index: IntValue<'ctx>,
) -> PointerValue<'ctx> {
    // SAFETY: the caller's index is inside the array.
    unsafe { base.const_in_bounds_gep(element, &[index]) }
}

/// Replaces φ `old` by one whose incoming blocks are mapped, entry by entry, and which keeps
/// name, position, fast-math flags and debug location.
pub(crate) fn rebuild_phi<'ctx>(
    builder: &Builder<'ctx>,
    old: InstructionValue<'ctx>,
    mut map: impl FnMut(BasicBlock<'ctx>) -> BasicBlock<'ctx>,
) {
    assert_eq!(Inst::from_inkwell(old).opcode(), LLVMOpcode::LLVMPHI);
    position_before(builder, old);
    let old = Inst::from_inkwell(old);
    let new = inst::phi_before(builder, old);
    for (value, block) in old.incoming() {
        new.add_incoming(value, map(block));
    }
    let name = old.name();
    new.behave_like(old);
    old.replace_uses(new.value());
    old.erase();
    // While the old one lived, its name was taken.
    new.rename(&name);
}

/// Makes `global` (an array with appending linkage) hold `elements`, each a constant of one type.
pub(crate) fn replace_appending<'ctx>(
    module: &Module<'ctx>,
    old: Option<GlobalValue<'ctx>>,
    name: &std::ffi::CStr,
    elements: &[Value],
) {
    assert!(!elements.is_empty());
    let mut elements: Vec<LLVMValueRef> = elements.iter().map(|e| e.as_raw()).collect();
    // SAFETY: all elements are live constants of one type in this module's context; an appending
    // global has no uses inside the module, so the old one may go.
    unsafe {
        let element = LLVMTypeOf(elements[0]);
        let count = elements.len() as u64;
        let array = LLVMConstArray2(element, elements.as_mut_ptr(), count);
        if let Some(old) = old {
            LLVMDeleteGlobal(old.as_value_ref());
        }
        let global = LLVMAddGlobal(module.as_mut_ptr(), LLVMTypeOf(array), name.as_ptr());
        LLVMSetInitializer(global, array);
        LLVMSetLinkage(global, inkwell::llvm_sys::LLVMLinkage::LLVMAppendingLinkage);
    }
}

/// A φ without entries at the start of a block.
pub(crate) fn phi_at_start<'ctx>(
    builder: &Builder<'ctx>,
    block: BasicBlock<'ctx>,
    ty: impl BasicType<'ctx>,
    name: &str,
) -> PhiValue<'ctx> {
    match block.get_first_instruction() {
        Some(first) => position_before(builder, first),
        None => builder.position_at_end(block),
    }
    builder.build_phi(ty, name).expect("positioned")
}

/// Runs LLVM passes, named as for `opt -passes`, on a module, for a machine if one is named; the error is what LLVM
/// says.
pub(crate) fn run_passes(
    module: &Module,
    passes: &str,
    machine: Option<&TargetMachine>,
) -> Result<(), String> {
    let passes = std::ffi::CString::new(passes).expect("names hold no NUL");
    // SAFETY: module, options and machine are live; no target machine is allowed; an error is ours to take the
    // message of, which is NUL-terminated and ours to free.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        // As clang has it from -O2 on.
        LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
        let machine = machine.map_or(std::ptr::null_mut(), TargetMachine::as_mut_ptr);
        let error = LLVMRunPasses(module.as_mut_ptr(), passes.as_ptr(), machine, options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        let message = LLVMGetErrorMessage(error);
        let text = std::ffi::CStr::from_ptr(message)
            .to_string_lossy()
            .into_owned();
        LLVMDisposeErrorMessage(message);
        Err(text)
    }
}

/// Operand `i` of a call, a constant integer.
pub(crate) fn constant_operand(call: InstructionValue, i: u32) -> u64 {
    assert!(Inst::from_inkwell(call).is_call() && i < call.get_num_operands());
    // SAFETY: the operand exists; what is no constant integer is not read.
    unsafe {
        let value = LLVMIsAConstantInt(LLVMGetOperand(call.as_value_ref(), i));
        assert!(!value.is_null(), "operand {i} is a constant");
        LLVMConstIntGetZExtValue(value)
    }
}

/// Operand `i` of a call, the address of a global that holds a string.
pub(crate) fn string_operand(call: InstructionValue, i: u32) -> String {
    assert!(Inst::from_inkwell(call).is_call() && i < call.get_num_operands());
    // SAFETY: the operand exists and is checked to be a global with a string in it; the bytes live as long as
    // that string and are copied at once.
    unsafe {
        let global = LLVMIsAGlobalVariable(LLVMGetOperand(call.as_value_ref(), i));
        assert!(!global.is_null(), "operand {i} is a global");
        let string = LLVMGetInitializer(global);
        assert!(!string.is_null() && LLVMIsConstantString(string) != 0);
        let mut length = 0;
        let bytes = LLVMGetAsString(string, &mut length);
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// A named thing of a module.
pub(crate) struct Symbol {
    /// A global of the module.
    value: Value,
    /// Its name; empty where it has none.
    pub name: String,
    /// Whether other modules cannot see it.
    pub local: bool,
    /// Whether the module gives it to others: not if it only may inline it.
    pub defined: bool,
    /// Whether it may be nowhere.
    pub weak: bool,
}

impl Symbol {
    fn new(value: Value) -> Symbol {
        use inkwell::llvm_sys::LLVMLinkage::*;
        let linkage = value.linkage();
        Symbol {
            value,
            name: String::from_utf8_lossy(&value.name()).into_owned(),
            defined: value.is_definition() && linkage != LLVMAvailableExternallyLinkage,
            weak: linkage == LLVMExternalWeakLinkage,
            local: matches!(linkage, LLVMInternalLinkage | LLVMPrivateLinkage),
        }
    }

    /// Gives it another name, to which LLVM adds a number should that be taken too.
    pub(crate) fn rename(&self, name: &str) {
        self.value.rename(name.as_bytes());
    }
}

/// The functions, variables, aliases and ifuncs of a module.
pub(crate) fn symbols(module: &Module) -> Vec<Symbol> {
    let raw = module.as_mut_ptr();
    // SAFETY: the module is live, and each list is walked by its own functions until it ends.
    let lists = unsafe {
        [
            collect_list(LLVMGetFirstFunction(raw), LLVMGetNextFunction),
            collect_list(LLVMGetFirstGlobal(raw), LLVMGetNextGlobal),
            collect_list(LLVMGetFirstGlobalAlias(raw), LLVMGetNextGlobalAlias),
            collect_list(LLVMGetFirstGlobalIFunc(raw), LLVMGetNextGlobalIFunc),
        ]
    };
    lists.concat().into_iter().map(Symbol::new).collect()
}

fn collect_list(
    first: LLVMValueRef,
    next: unsafe extern "C" fn(LLVMValueRef) -> LLVMValueRef,
) -> Vec<Value> {
    let all = std::iter::successors(Value::from_raw(first), |v| {
        // SAFETY: `next` takes what it or the first of its kind gave.
        Value::from_raw(unsafe { next(v.as_raw()) })
    });
    all.collect()
}

/// Removes debug information; whether there was any, but for what hangs on metadata of loops alone.
pub(crate) fn strip_debug_info(module: &Module) -> bool {
    let raw = module.as_mut_ptr();
    // SAFETY: the module is live. LLVM forgets to say that it removed records; it does say so of calls.
    unsafe {
        let records = LLVMIsNewDbgInfoFormat(raw);
        LLVMSetIsNewDbgInfoFormat(raw, 0);
        let removed = LLVMStripModuleDebugInfo(raw) != 0;
        LLVMSetIsNewDbgInfoFormat(raw, records);
        removed
    }
}
