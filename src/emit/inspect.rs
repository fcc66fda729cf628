//! Which loader reads a module: llvm-ir, supplemented by LLVM, or LLVM alone where llvm-ir cannot.

#[cfg(feature = "llvm-ir")]
use super::by_llvm_ir;
use super::{read, session};
use crate::error::Result;
use crate::ir::lower::{LoadOptions, Lowered, assemble, lower, unreadable};
use crate::ir::{Program, SkipReason};
use crate::load::Admitted;
use inkwell::memory_buffer::MemoryBuffer;
use rayon::prelude::*;

/// The attributes that forbid profiling, and the reason that each gives.
pub(super) const ATTRIBUTES: [(&str, SkipReason); 4] = [
    ("naked", SkipReason::Naked),
    ("noprofile", SkipReason::NoProfile),
    ("skipprofile", SkipReason::SkipProfile),
    ("presplitcoroutine", SkipReason::Coroutine),
];

/// What reads a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loader {
    /// llvm-ir, and [`Loader::Llvm`] for a module that it cannot represent.
    #[cfg(feature = "llvm-ir")]
    LlvmIr,
    /// LLVM, through inkwell.
    Llvm,
}

/// Loads all modules and assembles the program. Modules in parallel; linear.
///
/// # Errors
/// Input that LLVM cannot read, and symbols that two modules define.
pub fn load(inputs: &[Admitted], options: &LoadOptions) -> Result<Program> {
    #[cfg(feature = "llvm-ir")]
    let loader = Loader::LlvmIr;
    #[cfg(not(feature = "llvm-ir"))]
    let loader = Loader::Llvm;
    load_by(loader, inputs, options)
}

/// The same with a given loader; the program is the same with each.
///
/// # Errors
/// As [`load`].
pub fn load_by(loader: Loader, inputs: &[Admitted], options: &LoadOptions) -> Result<Program> {
    let lowered = inputs.par_iter().map(|input| {
        let mut lowered = match loader {
            #[cfg(feature = "llvm-ir")]
            Loader::LlvmIr => match by_llvm_ir::lowered(input, options)? {
                Some(lowered) => Ok(lowered),
                None => by_llvm(input, options),
            },
            Loader::Llvm => by_llvm(input, options),
        }?;
        lowered.add(&input.hidden);
        Ok(lowered)
    });
    assemble(inputs, lowered.collect::<Result<_>>()?)
}

fn by_llvm(input: &Admitted, options: &LoadOptions) -> Result<Lowered> {
    let context = session::context();
    let buffer = MemoryBuffer::create_from_memory_range_copy(&input.bytes, &input.name);
    match context.create_module_from_ir(buffer) {
        Ok(module) => {
            let view = read::view(&module, &ATTRIBUTES);
            Ok(lower(view, &input.positions, options))
        }
        Err(message) => Err(unreadable(input, &message.to_string())),
    }
}
