//! Which loader reads a module: llvm-ir, told what it does not see, or LLVM itself where llvm-ir cannot.

use super::{read, session, sys};
use crate::error::Result;
use crate::ir::lower::{LoadOptions, Lowered, assemble, by_llvm_ir, lower, unreadable};
use crate::ir::{Program, SkipReason};
use crate::load::{Input, Kind};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use rayon::prelude::*;

/// The attributes that say not to profile, and what they mean.
const ATTRIBUTES: [(&str, SkipReason); 4] = [
    ("naked", SkipReason::Naked),
    ("noprofile", SkipReason::NoProfile),
    ("skipprofile", SkipReason::SkipProfile),
    ("presplitcoroutine", SkipReason::Coroutine),
];

/// What reads a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loader {
    /// llvm-ir, and [`Loader::Llvm`] for a module that it cannot represent.
    LlvmIr,
    /// LLVM, through inkwell.
    Llvm,
}

/// Loads all modules and assembles the program. Modules in parallel; linear.
///
/// # Errors
/// Input that LLVM cannot read, and symbols that two modules define.
pub fn load(inputs: &[Input], options: &LoadOptions) -> Result<Program> {
    load_by(Loader::LlvmIr, inputs, options)
}

/// The same by a loader of choice: the program does not depend on it.
///
/// # Errors
/// As [`load`].
pub fn load_by(loader: Loader, inputs: &[Input], options: &LoadOptions) -> Result<Program> {
    let lowered = inputs.par_iter().map(|input| {
        let mut lowered = match loader {
            Loader::LlvmIr => by_either(input, options),
            Loader::Llvm => by_llvm(input, options),
        }?;
        lowered.add(&input.hidden);
        Ok(lowered)
    });
    assemble(inputs, lowered.collect::<Result<_>>()?)
}

/// Whether llvm-ir can represent a module.
///
/// # Errors
/// Input that LLVM cannot read.
pub fn llvm_ir_suffices(input: &Input) -> Result<bool> {
    Ok(by_llvm_ir(input, &[], &LoadOptions::default())?.is_some())
}

fn by_either(input: &Input, options: &LoadOptions) -> Result<Lowered> {
    let skip = skipped_functions(input);
    match by_llvm_ir(input, &skip, options)? {
        Some(lowered) => Ok(lowered),
        None => by_llvm(input, options),
    }
}

fn by_llvm(input: &Input, options: &LoadOptions) -> Result<Lowered> {
    let context = session::context();
    let buffer = MemoryBuffer::create_from_memory_range_copy(&input.bytes, &input.name);
    match context.create_module_from_ir(buffer) {
        Ok(module) => Ok(lower(read::view(&module, &ATTRIBUTES), options)),
        Err(message) => Err(unreadable(input, &message.to_string())),
    }
}

/// By ordinal of the definition: why attributes of the function say not to profile it. Empty when
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
