//! What a loader shows of the modules → our control-flow view.
//!
//! `from_llvm_ir` is the loader of `llvm-ir`; what it cannot represent is read by another, which hands in
//! the same [`view`].

mod assemble;
mod body;
#[cfg(feature = "llvm-ir")]
mod from_llvm_ir;
#[cfg(feature = "llvm-ir")]
mod operands;
#[cfg(feature = "llvm-ir")]
mod parse;
mod resolver;
mod returning;
mod unreadable;
pub mod view;

#[cfg(test)]
mod tests;

use super::processes::{FORK_BY_NUMBER, forks_unnoticed};
use super::threads::starter;
use super::{FunctionBody, SkipReason};
use crate::base::index::BlockId;
use crate::base::names::Filter;
use crate::input::load::Hidden;
use crate::input::load::positions::{BodyPositions, Inlined, Positions, SourceFile};
use body::LeftByCalls;
use std::collections::{BTreeSet, HashMap};
use view::{Alias, Calls, ModuleView};

pub use assemble::program as assemble;
#[cfg(feature = "llvm-ir")]
pub use from_llvm_ir::by_llvm_ir;
pub(crate) use returning::is_harmless;
pub use unreadable::{remedy_for_old_text, unreadable_error};

/// Which functions are to be instrumented.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Only those that it admits.
    pub include: Option<Filter>,
    /// Not those that it admits.
    pub exclude: Option<Filter>,
}

impl LoadOptions {
    fn is_excluded(&self, name: &str) -> bool {
        let included = self.include.as_ref().is_none_or(|f| f.admits(name));
        !included || self.exclude.as_ref().is_some_and(|f| f.admits(name))
    }
}

/// One lowered module, before calls are resolved over all modules: `Callee::External` names
/// every direct callee.
pub struct Lowered {
    bodies: Vec<FunctionBody>,
    /// By body.
    left_by_calls: Vec<Vec<LeftByCalls>>,
    files: Vec<SourceFile>,
    inlined: Vec<Inlined>,
    aliases: HashMap<String, Alias>,
    ifuncs: Vec<String>,
    taken: BTreeSet<String>,
    calls: Calls,
    cxx: bool,
    /// [`Program::starters`](crate::input::ir::Program::starters)
    starters: Vec<String>,
    /// Functions without a body that are not known to be harmless ([`returning`]).
    doubtful: Vec<String>,
}

impl Lowered {
    /// Adds what the loader did not show.
    pub fn add(&mut self, hidden: &[Hidden]) {
        for h in hidden {
            let block = &mut self.bodies[h.body].cfg.blocks[BlockId::new(h.block)];
            block.single |= h.single;
            block.returns_twice |= h.returns_twice;
            block.known_labels |= h.known_labels;
            block.pressure = h.pressure;
        }
    }
}

/// Lowers what a loader shows of a module, with the positions that LLVM found in it. Linear.
pub fn lower(view: ModuleView, positions: &Positions, options: &LoadOptions) -> Lowered {
    let ModuleView {
        functions,
        returning,
        declared,
        aliases,
        ifuncs,
        taken,
        calls,
    } = view;
    let nowhere = BodyPositions::default();
    let mut forks_by_number = false;
    let bodies = functions.enumerate().map(|(i, f)| {
        let of_body = positions.bodies.get(i).unwrap_or(&nowhere);
        let (mut body, left_by_calls, by_number) =
            body::lower(f, &returning, &positions.places, of_body);
        forks_by_number |= by_number;
        body.address_taken = taken.contains(&body.name);
        if body.skip.is_none() && options.is_excluded(&body.name) {
            body.skip = Some(SkipReason::Excluded);
        }
        (body, left_by_calls)
    });
    let (bodies, left_by_calls): (Vec<FunctionBody>, _) = bodies.unzip();
    let defined = bodies.iter().map(|b| b.name.as_str());
    let names = declared.iter().map(|n| &**n).chain(defined);
    let starts = |n: &&str| starter(n).is_some() || forks_unnoticed(n);
    let starters = names.filter(starts).map(String::from);
    let by_number = forks_by_number.then(|| FORK_BY_NUMBER.to_string());
    let starters = starters.chain(by_number).collect();
    let doubtful = declared.iter().filter(|n| !is_harmless(n));
    Lowered {
        bodies,
        left_by_calls,
        files: positions.files.clone(),
        inlined: positions.inlined.clone(),
        aliases,
        ifuncs,
        taken,
        calls,
        cxx: body::is_cxx(&declared),
        starters,
        doubtful: doubtful.map(|n| n.to_string()).collect(),
    }
}
