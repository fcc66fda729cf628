//! What the loader does not show: attributes that say not to profile.

use super::sys;
use crate::ir::SkipReason;
use crate::load::{Input, Kind};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// The attributes, and what they mean.
const ATTRIBUTES: [(&str, SkipReason); 3] = [
    ("noprofile", SkipReason::NoProfile),
    ("skipprofile", SkipReason::SkipProfile),
    ("presplitcoroutine", SkipReason::Coroutine),
];

/// By ordinal of the definition: why attributes of the function say not to profile it. Empty when
/// there is nothing to say, or when LLVM cannot read the input (the loader says why).
///
/// Bodies are not read: this takes a small part of the time that loading takes.
pub fn inspect(input: &Input) -> Vec<Option<SkipReason>> {
    let context = Context::create();
    let Some(module) = parse(&context, input) else {
        return Vec::new();
    };
    let kinds = ATTRIBUTES.map(|(name, why)| (Attribute::get_named_enum_kind_id(name), why));
    let definitions = module.get_functions().filter(|f| sys::is_definition(*f));
    let skip = |f: inkwell::values::FunctionValue| {
        let has = |kind| f.get_enum_attribute(AttributeLoc::Function, kind).is_some();
        kinds
            .iter()
            .find(|(kind, _)| has(*kind))
            .map(|&(_, why)| why)
    };
    definitions.map(skip).collect()
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
