//! Modules read by llvm-ir; what it does not show is asked of LLVM. llvm-ir supports no LLVM after 19.

use super::inspect::ATTRIBUTES;
use super::{session, sys};
use crate::error::Result;
use crate::ir::SkipReason;
use crate::ir::lower::{LoadOptions, Lowered, by_llvm_ir};
use crate::load::{Input, Kind};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// Whether llvm-ir can represent a module.
///
/// # Errors
/// Input that LLVM cannot read.
pub fn llvm_ir_suffices(input: &Input) -> Result<bool> {
    Ok(by_llvm_ir(input, &[], &LoadOptions::default())?.is_some())
}

/// A module, lowered; `None` where llvm-ir cannot represent it.
pub(super) fn lowered(input: &Input, options: &LoadOptions) -> Result<Option<Lowered>> {
    by_llvm_ir(input, &skipped_functions(input), options)
}

/// By ordinal of the definition: why the function's attributes forbid profiling it. Empty when
/// there is nothing to say, or when LLVM cannot read the input (the loader says why).
///
/// Bodies are not read: this takes a small part of the time that loading takes.
fn skipped_functions(input: &Input) -> Vec<Option<SkipReason>> {
    let context = session::context();
    let Some(module) = parse(&context, input) else {
        return Vec::new();
    };
    let kinds = ATTRIBUTES.map(|(name, why)| (Attribute::get_named_enum_kind_id(name), why));
    let skip = |f: inkwell::values::FunctionValue| {
        let has = |kind| f.get_enum_attribute(AttributeLoc::Function, kind).is_some();
        kinds
            .iter()
            .find(|(kind, _)| has(*kind))
            .map(|&(_, why)| why)
    };
    sys::definitions(&module).map(skip).collect()
}

fn parse<'ctx>(context: &'ctx Context, input: &Input) -> Option<Module<'ctx>> {
    match input.kind {
        Kind::Bitcode => sys::parse_lazily(context, &input.bytes),
        Kind::Text => {
            let names = |(name, _): &(&str, _)| holds(&input.bytes, name.as_bytes());
            if !ATTRIBUTES.iter().any(names) {
                return None;
            }
            let buffer = MemoryBuffer::create_from_memory_range_copy(&input.bytes, &input.name);
            context.create_module_from_ir(buffer).ok()
        }
    }
}

/// Whether `text` holds `word`.
fn holds(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|w| w == word)
}
