//! Which loader reads a module: llvm-ir, supplemented by LLVM, or LLVM alone where llvm-ir cannot.

#[cfg(feature = "llvm-ir")]
use super::by_llvm_ir;
use super::llvm::session;
use super::{Parsed, read};
use crate::base::error::Result;
use crate::input::ir::lower::{LoadOptions, Lowered, assemble, lower, unreadable_error};
use crate::input::ir::{FORBIDDING_ATTRIBUTES, Program};
use crate::input::load::Admitted;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use rayon::prelude::*;

/// What reads a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loader {
    /// llvm-ir, and [`Loader::Llvm`] for a module that it cannot represent.
    #[cfg(feature = "llvm-ir")]
    LlvmIr,
    /// LLVM, through inkwell.
    Llvm,
}

/// llvm-ir has LLVM read a module once more, and makes values of it that take some 40 times the bytes of its bitcode.
/// One of more bytes than this is seen through LLVM instead, which has it in memory anyway: with llvm-ir it would take
/// more than 10 MB, and an eighth of the time of rewriting.
#[cfg(feature = "llvm-ir")]
const MOST_BYTES_FOR_LLVM_IR: usize = 1 << 18;

/// Loads all modules and assembles the program, the only one from what was `parsed`, if it was and LLVM shows it.
/// Modules in parallel; linear.
///
/// # Errors
/// Input that LLVM cannot read, and symbols that two modules define.
pub fn load_program(
    inputs: &[Admitted],
    parsed: Option<&mut Parsed>,
    options: &LoadOptions,
) -> Result<Program> {
    if let ([input], Some(parsed)) = (inputs, parsed)
        && loader_of(input) == Loader::Llvm
    {
        let mut lowered = lower_module(input, &parsed.context_and_module().1, options);
        lowered.add(&input.hidden);
        return assemble(inputs, vec![lowered]);
    }
    load_each(loader_of, inputs, options)
}

/// Loads all modules with `loader` and assembles the program, which is the same with every loader. Modules in parallel;
/// linear.
///
/// # Errors
/// As [`load_program`].
pub fn load_by(loader: Loader, inputs: &[Admitted], options: &LoadOptions) -> Result<Program> {
    load_each(|_| loader, inputs, options)
}

#[cfg(feature = "llvm-ir")]
fn loader_of(input: &Admitted) -> Loader {
    if input.bytes.len() > MOST_BYTES_FOR_LLVM_IR {
        Loader::Llvm
    } else {
        Loader::LlvmIr
    }
}

#[cfg(not(feature = "llvm-ir"))]
fn loader_of(_: &Admitted) -> Loader {
    Loader::Llvm
}

fn load_each(
    loader_of: impl Fn(&Admitted) -> Loader + Sync,
    inputs: &[Admitted],
    options: &LoadOptions,
) -> Result<Program> {
    let lowered = inputs.par_iter().map(|input| {
        // llvm-ir asks LLVM for debug information that LLVM's verifier does not check.
        let _reading = session::Reading::begin(&input.path, None);
        let mut lowered = match loader_of(input) {
            #[cfg(feature = "llvm-ir")]
            Loader::LlvmIr => match by_llvm_ir::lower_module(input, options)? {
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

/// `module`, which is what LLVM made of `input`.
fn lower_module(input: &Admitted, module: &Module, options: &LoadOptions) -> Lowered {
    lower(
        read::view_module(module, &FORBIDDING_ATTRIBUTES),
        &input.positions,
        options,
    )
}

fn by_llvm(input: &Admitted, options: &LoadOptions) -> Result<Lowered> {
    let context = session::context();
    let buffer = MemoryBuffer::create_from_memory_range_copy(&input.bytes, &input.name);
    match context.create_module_from_ir(buffer) {
        Ok(module) => Ok(lower_module(input, &module, options)),
        Err(message) => Err(unreadable_error(input, &message.to_string())),
    }
}
