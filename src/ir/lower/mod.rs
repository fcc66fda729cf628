//! llvm-ir's data → our control-flow view: the one place that knows the loader.

mod assemble;
mod body;
mod operands;
mod parse;

#[cfg(test)]
mod tests;

pub use parse::unreadable;

use super::{FunctionBody, Program, SkipReason};
use crate::error::Result;
use crate::index::BlockId;
use crate::load::Input;
use crate::names::Filter;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};

/// Which functions are to be instrumented.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Only those that it admits.
    pub include: Option<Filter>,
    /// Not those that it admits.
    pub exclude: Option<Filter>,
    /// By input: what llvm-ir does not show. May be shorter than the inputs.
    pub hints: Vec<Hints>,
}

/// What llvm-ir does not show of a module; found by other means. Ordinals are those of the
/// definitions.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// By ordinal: functions whose attributes say not to profile them. May be short.
    pub skip: Vec<Option<SkipReason>>,
    /// By ordinal and block: the successors of a `callbr`, the first one where it falls through.
    pub callbr: HashMap<(u32, BlockId), Vec<BlockId>>,
}

impl LoadOptions {
    fn excludes(&self, name: &str) -> bool {
        let included = self.include.as_ref().is_none_or(|f| f.admits(name));
        !included || self.exclude.as_ref().is_some_and(|f| f.admits(name))
    }
}

/// One lowered module, before calls are resolved over all modules: `Callee::External` names
/// every direct callee.
struct Lowered {
    bodies: Vec<FunctionBody>,
    files: Vec<String>,
    aliases: HashMap<String, String>,
    /// Functions of this module (defined or not) whose address is taken.
    taken: BTreeSet<String>,
    /// Who may call whom, by name; from llvm-ir-analysis.
    calls: Vec<(String, String)>,
    cxx: bool,
}

/// Loads all modules and assembles the program. Modules in parallel; linear.
///
/// # Errors
/// Input that LLVM or llvm-ir cannot read, and symbols that two modules define.
pub fn load_program(inputs: &[Input], options: &LoadOptions) -> Result<Program> {
    let none = Hints::default();
    let lowered: Vec<Lowered> = inputs
        .par_iter()
        .enumerate()
        .map(|(i, input)| lower(input, options.hints.get(i).unwrap_or(&none), options))
        .collect::<Result<_>>()?;
    assemble::program(inputs, lowered)
}

fn lower(input: &Input, hints: &Hints, options: &LoadOptions) -> Result<Lowered> {
    let module = parse::parse(input)?;
    let taken = operands::address_taken(&module);
    let mut files = body::Files::default();
    let known = body::callees(&module);
    let aliases = body::aliases(&module);
    let bodies = module.functions.iter().enumerate().map(|(i, f)| {
        let callbr = |block| hints.callbr.get(&(i as u32, block)).cloned();
        let mut body = body::lower(f, &known, &mut files, &callbr);
        body.address_taken = taken.contains(&f.name);
        body.skip = body.skip.or(hints.skip.get(i).copied().flatten());
        if body.skip.is_none() && options.excludes(&f.name) {
            body.skip = Some(SkipReason::Excluded);
        }
        body
    });
    let bodies = bodies.collect();
    Ok(Lowered {
        bodies,
        aliases,
        calls: super::callgraph::calls(&module),
        cxx: body::is_cxx(&module),
        files: files.names,
        taken,
    })
}
