//! What a loader shows of the modules → our control-flow view.
//!
//! `from_llvm_ir` is the loader of `llvm-ir`; what it cannot represent is read by another, which hands in
//! the same [`view`].

mod assemble;
mod body;
mod from_llvm_ir;
mod operands;
mod parse;
pub mod view;

#[cfg(test)]
mod tests;

use super::{FunctionBody, SkipReason};
use crate::error::Result;
use crate::load::{Hidden, Input};
use crate::names::Filter;
use std::collections::{BTreeSet, HashMap};
use view::ModuleView;

pub use assemble::program as assemble;
pub use parse::unreadable;

/// Which functions are to be instrumented.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Only those that it admits.
    pub include: Option<Filter>,
    /// Not those that it admits.
    pub exclude: Option<Filter>,
}

impl LoadOptions {
    fn excludes(&self, name: &str) -> bool {
        let included = self.include.as_ref().is_none_or(|f| f.admits(name));
        !included || self.exclude.as_ref().is_some_and(|f| f.admits(name))
    }
}

/// One lowered module, before calls are resolved over all modules: `Callee::External` names
/// every direct callee.
pub struct Lowered {
    bodies: Vec<FunctionBody>,
    files: Vec<String>,
    aliases: HashMap<String, String>,
    taken: BTreeSet<String>,
    calls: Vec<(String, String)>,
    cxx: bool,
}

impl Lowered {
    /// Adds what the loader did not show.
    pub fn add(&mut self, hidden: &[Hidden]) {
        for h in hidden {
            let block = &mut self.bodies[h.body].cfg.blocks[h.block];
            block.single |= h.single;
            block.returns_twice |= h.returns_twice;
        }
    }
}

/// Lowers what a loader shows of a module. Linear.
pub fn lower(view: ModuleView, options: &LoadOptions) -> Lowered {
    let ModuleView {
        functions,
        returning,
        declared,
        aliases,
        taken,
        calls,
    } = view;
    let mut files = body::Files::default();
    let bodies = functions.map(|f| {
        let mut body = body::lower(f, &returning, &mut files);
        body.address_taken = taken.contains(&body.name);
        if body.skip.is_none() && options.excludes(&body.name) {
            body.skip = Some(SkipReason::Excluded);
        }
        body
    });
    Lowered {
        bodies: bodies.collect(),
        files: files.names,
        aliases,
        taken,
        calls,
        cxx: body::is_cxx(&declared),
    }
}

/// Reads a module by llvm-ir and lowers it; `None` where llvm-ir cannot represent it. `skip`: by ordinal of
/// the definition, what attributes that llvm-ir does not know say against profiling it; may be short.
///
/// # Errors
/// Input that LLVM cannot read.
pub fn by_llvm_ir(
    input: &Input,
    skip: &[Option<SkipReason>],
    options: &LoadOptions,
) -> Result<Option<Lowered>> {
    let module = parse::parse(input)?;
    let view = module.as_ref().and_then(|m| from_llvm_ir::view(m, skip));
    Ok(view.map(|v| lower(v, options)))
}
