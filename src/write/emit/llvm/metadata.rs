//! Metadata: nodes on instructions and functions, flags of modules.

use super::successor_count;
use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::LLVMModuleFlagBehavior;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};

/// What a metadata node holds.
pub(crate) enum Meta<'a> {
    /// A string.
    Text(&'a str),
    /// An `i32`.
    I32(u32),
    /// An `i64`.
    I64(u64),
    /// A `double`.
    Double(f64),
    /// Another node.
    Node(Vec<Meta<'a>>),
}

/// Says how often a terminator takes each of its successors, instead of what it said before.
pub(crate) fn set_branch_weights(context: &Context, terminator: InstructionValue, weights: &[u32]) {
    assert_eq!(successor_count(terminator) as usize, weights.len());
    let weights = weights.iter().copied().map(Meta::I32);
    let node = std::iter::once(Meta::Text("branch_weights")).chain(weights);
    set_metadata(context, terminator, "prof", Meta::Node(node.collect()));
}

/// Makes `meta` the `!irr_loop` node of a terminator, instead of the one it had.
pub(crate) fn set_header_weight(context: &Context, terminator: InstructionValue, meta: Meta) {
    set_metadata(context, terminator, "irr_loop", meta);
}

fn set_metadata(context: &Context, instruction: InstructionValue, kind: &str, meta: Meta) {
    let kind = context.get_kind_id(kind);
    // SAFETY: the instruction is live and of this context, as is the node.
    unsafe {
        let node = LLVMMetadataAsValue(context.as_ctx_ref(), metadata(context, &meta));
        LLVMSetMetadata(instruction.as_value_ref(), kind, node);
    }
}

/// Makes `meta` the `!prof` node of a function, instead of the one it had.
pub(crate) fn set_function_profile(context: &Context, f: FunctionValue, meta: Meta) {
    let (kind, node) = (context.get_kind_id("prof"), metadata(context, &meta));
    // SAFETY: the function is live and of this context, as is the node.
    unsafe { LLVMGlobalSetMetadata(f.as_value_ref(), kind, node) }
}

/// Whether a module has this flag.
pub(crate) fn has_module_flag(module: &Module, name: &str) -> bool {
    // SAFETY: the module is live, and the name's length is said.
    unsafe { !LLVMGetModuleFlag(module.as_mut_ptr(), name.as_ptr().cast(), name.len()).is_null() }
}

/// Adds a flag to a module that lacks it; modules with different ones cannot be linked.
pub(crate) fn add_module_flag(context: &Context, module: &Module, name: &str, meta: Meta) {
    assert!(!has_module_flag(module, name));
    let behavior = LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorError;
    // SAFETY: module and context are live and belong together, and the name's length is said.
    unsafe {
        let (node, text) = (metadata(context, &meta), name.as_ptr().cast());
        LLVMAddModuleFlag(module.as_mut_ptr(), behavior, text, name.len(), node);
    }
}

fn metadata(context: &Context, meta: &Meta) -> LLVMMetadataRef {
    let raw = context.as_ctx_ref();
    let nodes: Vec<_> = match meta {
        Meta::Node(parts) => parts.iter().map(|m| metadata(context, m)).collect(),
        _ => Vec::new(),
    };
    // SAFETY: the context is live and lengths are those of what they belong to. LLVM copies text and nodes.
    unsafe {
        let value = match meta {
            Meta::Text(text) => {
                return LLVMMDStringInContext2(raw, text.as_ptr().cast(), text.len());
            }
            Meta::Node(_) => {
                return LLVMMDNodeInContext2(raw, nodes.as_ptr().cast_mut(), nodes.len());
            }
            Meta::I32(n) => LLVMConstInt(LLVMInt32TypeInContext(raw), u64::from(*n), 0),
            Meta::I64(n) => LLVMConstInt(LLVMInt64TypeInContext(raw), *n, 0),
            Meta::Double(x) => LLVMConstReal(LLVMDoubleTypeInContext(raw), *x),
        };
        LLVMValueAsMetadata(value)
    }
}

/// The version of debug information that a module says it has.
pub(crate) fn debug_info_version(module: &Module) -> Option<u64> {
    let name = "Debug Info Version";
    // SAFETY: module and context are live, and the name's length is said; a flag that is no integer is not read.
    unsafe {
        let raw = module.as_mut_ptr();
        let flag = LLVMGetModuleFlag(raw, name.as_ptr().cast(), name.len());
        if flag.is_null() {
            return None;
        }
        let value = LLVMMetadataAsValue(LLVMGetModuleContext(raw), flag);
        let number = LLVMIsAConstantInt(LLVMGetOperand(value, 0));
        (!number.is_null()).then(|| LLVMConstIntGetZExtValue(number))
    }
}
