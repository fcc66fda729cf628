//! What the loader does not show: attributes that say not to profile, targets of `callbr`.

use super::{session, sites, sys};
use crate::error::Result;
use crate::index::BlockId;
use crate::ir::lower::{Hints, LoadOptions, load_program};
use crate::ir::{FunctionBody, Program, SkipReason};
use crate::load::{Input, Kind};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use rayon::prelude::*;
use std::collections::HashMap;

/// The attributes, and what they mean.
const ATTRIBUTES: [(&str, SkipReason); 3] = [
    ("noprofile", SkipReason::NoProfile),
    ("skipprofile", SkipReason::SkipProfile),
    ("presplitcoroutine", SkipReason::Coroutine),
];

/// Loads the inputs with all that is known of them; once more, with the targets of `callbr`, where there is
/// one. Linear.
///
/// # Errors
/// As [`load_program`].
pub fn load(inputs: &[Input], mut options: LoadOptions) -> Result<Program> {
    let hints = |input| Hints {
        skip: skipped_functions(input),
        ..Hints::default()
    };
    options.hints = inputs.par_iter().map(hints).collect();
    let program = load_program(inputs, &options)?;
    let bodies = program.modules.iter().flat_map(|m| &m.bodies);
    let unknown = |b: &FunctionBody| b.skip == Some(SkipReason::CallBr);
    if !bodies.into_iter().any(unknown) {
        return Ok(program);
    }
    for (hints, input) in options.hints.iter_mut().zip(inputs) {
        hints.callbr = callbr_targets(input);
    }
    load_program(inputs, &options)
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

/// The successors of every `callbr`, by ordinal of the definition and block.
fn callbr_targets(input: &Input) -> HashMap<(u32, BlockId), Vec<BlockId>> {
    let context = session::context();
    let buffer = MemoryBuffer::create_from_memory_range_copy(&input.bytes, &input.name);
    let mut targets = HashMap::new();
    let Ok(module) = context.create_module_from_ir(buffer) else {
        return targets;
    };
    for (ordinal, f) in (0..).zip(sys::definitions(&module)) {
        let blocks = f.get_basic_blocks();
        let numbers = blocks
            .iter()
            .enumerate()
            .map(|(i, b)| (*b, BlockId::new(i)));
        let numbers: HashMap<BasicBlock, BlockId> = numbers.collect();
        for (i, block) in blocks.iter().enumerate() {
            let end = sites::terminator(*block);
            if sys::opcode(end) == LLVMOpcode::LLVMCallBr {
                let succs =
                    (0..sys::successor_count(end)).map(|s| numbers[&sys::successor(end, s)]);
                targets.insert((ordinal, BlockId::new(i)), succs.collect());
            }
        }
    }
    targets
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
