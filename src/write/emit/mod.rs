//! Plans → LLVM modules: the only place that writes LLVM IR.
//!
//! A module is parsed again from the bytes that `ir` was lowered from, joined with that view by
//! ordinals (function, block, successor), and edited as the plan says. Everything that is not
//! instrumented stays as it is, but for attributes that are no longer true.

mod admit;
pub mod annotate;
mod attributes;
pub(crate) mod block;
#[cfg(feature = "llvm-ir")]
mod by_llvm_ir;
mod children;
mod comparisons;
mod conditions;
pub(crate) mod data;
pub(crate) mod edit;
pub(crate) mod function;
mod hidden;
mod inspect;
mod labels;
pub(crate) mod layout;
pub(crate) mod llvm;
mod members;
mod misplaced;
mod numbers;
mod optimize;
pub(crate) mod own;
pub mod pgo;
pub(crate) mod place;
mod positions;
mod pressure;
mod read;
mod segment;
pub(crate) mod shared;
pub(crate) mod split;
mod steps;
mod trace;
pub(crate) mod versions;
pub(crate) mod work;

pub use crate::copies::plan::{Counters, Names, Update};
pub use admit::{Admission, admit};
pub use attributes::{Affected, Callers};
#[cfg(feature = "llvm-ir")]
pub use by_llvm_ir::llvm_ir_suffices;
pub use children::{Child, can_begin};
pub use inspect::{Loader, load_by, load_program};
pub use llvm::parsed::Parsed;
pub use llvm::session::set_up;
pub use read::code::{CodeReader, ModuleCode, code_reader};
pub use read::inlined::find_inlined;

use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, ModuleId};
use crate::input::ir::FunctionBody;
use crate::input::load::{Input, Kind};
use edit::Edit;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use rustix::fs::{MemfdFlags, memfd_create};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use work::{Joined, ModuleWork};

/// The version of the LLVM that this program is linked with, as `19.1.7`.
pub fn llvm_version() -> String {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("{major}.{minor}.{patch}")
}

/// What is parsed, for one copy.
pub struct Source<'a> {
    bytes: &'a [u8],
    name: &'a str,
    kind: Kind,
    copy: CopyId,
}

impl<'a> Source<'a> {
    /// An input that is to be rewritten for `copy`.
    pub fn new(input: &'a Input, copy: CopyId) -> Self {
        Source {
            bytes: &input.bytes,
            name: &input.name,
            kind: input.kind,
            copy,
        }
    }
}

/// How one module of one copy is rewritten.
pub(crate) struct ModuleJob<'a> {
    /// What it is called in the program.
    pub name: &'a str,
    /// Its number in the program.
    pub id: ModuleId,
    /// The copy.
    pub copy: CopyId,
    /// The number of copies.
    pub copies: u32,
    /// [`crate::profile::manifest::Manifest::program`].
    pub program: [u8; 16],
    /// How counts are incremented.
    pub counters: Counters,
    /// How a count is made.
    pub update: Update,
    /// Whether handlers of signals may count, so that they must not interrupt an increment.
    pub handles_signals: bool,
    /// Count executed probes as well.
    pub count_hits: bool,
    /// The functions whose attributes may have become false.
    pub affected: &'a Affected,
    /// Leave modules without code of ours as they are, byte for byte.
    pub selective: bool,
    /// Write bitcode.
    pub bitcode: bool,
    /// Write text.
    pub text: bool,
    /// Write the module's numbers, and a digest of all else.
    pub numbers: bool,
}

/// What becomes of the functions of one module of one copy.
pub(crate) struct Changes<'a> {
    /// What the definitions were lowered to, in order. If they are owned, each is freed as soon as its function is
    /// done.
    pub bodies: Cow<'a, [FunctionBody]>,
    /// What is done in them.
    pub work: Box<dyn ModuleWork + 'a>,
}

/// A rewritten module, in files that are in memory and have no name.
pub struct Rewritten {
    /// As bitcode, if wanted.
    pub bitcode: Option<File>,
    /// As text, if wanted.
    pub text: Option<File>,
    /// Its numbers, and a digest of all else, if wanted ([`numbers`]): empty if nothing in it has changed.
    pub numbers: Option<File>,
}

impl Rewritten {
    /// Files for what is wanted, still empty.
    fn new(job: &ModuleJob) -> io::Result<Rewritten> {
        let file = |wanted: bool| -> io::Result<Option<File>> {
            let made = wanted.then(|| memfd_create("p3-rewrite", MemfdFlags::CLOEXEC));
            Ok(made.transpose()?.map(File::from))
        };
        Ok(Rewritten {
            bitcode: file(job.bitcode)?,
            text: file(job.text)?,
            numbers: file(job.numbers)?,
        })
    }

    /// `unchanged` is the bitcode that the module was read from, if nothing in it has changed.
    fn write_module(&self, module: &Module, unchanged: Option<&[u8]>) -> io::Result<()> {
        if let (Some(mut file), Some(bytes)) = (self.bitcode.as_ref(), unchanged) {
            file.write_all(bytes)?;
        } else if let Some(file) = &self.bitcode
            && !module.write_bitcode_to_file(file, false)
        {
            return Err(io::Error::last_os_error());
        }
        if let Some(mut file) = self.text.as_ref() {
            file.write_all(module.print_to_string().to_bytes())?;
        }
        if let Some(mut file) = self.numbers.as_ref().filter(|_| unchanged.is_none()) {
            file.write_all(&numbers::describe(module))?;
        }
        Ok(())
    }
}

/// Rewrites one module for one copy. Linear in the module.
///
/// # Errors
/// Results that LLVM's verifier rejects, or for which there is no memory.
///
/// # Panics
/// When the bytes and the lowered view do not match: they come from the same input, which [`admit`] has seen.
pub(crate) fn rewrite(
    source: &Source,
    names: Names,
    job: &ModuleJob,
    changes: Changes,
) -> Result<Rewritten> {
    rewrite_parsed(&parse_module(source, names)?, source, job, changes)
}

/// Rewrites one module, which LLVM has read, for one copy. `parsed` is changed. Linear in the module.
///
/// # Errors
/// As [`rewrite`].
///
/// # Panics
/// As [`rewrite`].
pub(crate) fn rewrite_parsed(
    parsed: &Parsed,
    source: &Source,
    job: &ModuleJob,
    changes: Changes,
) -> Result<Rewritten> {
    let failed = |e| Error::write(source.name, e);
    let files = Rewritten::new(job).map_err(failed)?;
    let unchanged = make_copy(parsed, source, job, changes)?;
    files
        .write_module(&parsed.context_and_module().1, unchanged)
        .map_err(failed)?;
    Ok(files)
}

/// Makes the module of one copy of one that LLVM has read. Returns the bitcode that it was read from if nothing in it
/// had to change.
fn make_copy<'s>(
    parsed: &Parsed,
    source: &Source<'s>,
    job: &ModuleJob,
    Changes { bodies, work }: Changes,
) -> Result<Option<&'s [u8]>> {
    let (context, module) = parsed.context_and_module();
    // Whoever read it, by whatever name: text begins with it.
    module.set_name(source.name);
    let functions = match_definitions(&module, job, &bodies);
    // By the names that the functions have in the input.
    let corrected =
        attributes::drop_false_attributes(&module, parsed.calls_that_claim(), job.id, job.affected);
    let is_unchanged = work.is_empty() && !corrected;
    if job.selective && is_unchanged && source.kind == Kind::Bitcode {
        return Ok(Some(source.bytes));
    }
    if is_unchanged {
        // It was verified when it was admitted.
        return Ok(None);
    }
    if !work.is_empty() {
        make_way(&module);
        let edit = Edit {
            context,
            module: &module,
        };
        work.carry_out(Joined {
            edit,
            job,
            functions,
            bodies,
        });
    }
    verify_result(&module, source)?;
    Ok(None)
}

/// Has LLVM read a module that was admitted. Linear.
///
/// # Errors
/// What LLVM says of input that it cannot read.
pub fn parse_module(source: &Source, names: Names) -> Result<Parsed> {
    Parsed::read(source.bytes, source.name, source.kind, names).map_err(|e| failure(source, &e))
}

/// Runs LLVM's verifier on all of the module: what was added concerns more than the functions that count.
fn verify_result(module: &Module, source: &Source) -> Result<()> {
    module.verify().map_err(|e| failure(source, &e.to_string()))
}

fn failure(source: &Source, message: &str) -> Error {
    Error::Emit {
        module: source.name.into(),
        copy: source.copy.0,
        problem: admit::complaint(message),
        remedy: "this is a bug of p3-rewrite; --exclude the function to go on".into(),
    }
}

/// Local symbols with names of ours get others: what is added must find its own.
fn make_way(module: &Module) {
    for symbol in llvm::symbols(module) {
        if symbol.name.starts_with(admit::PREFIX) {
            assert!(symbol.local, "{} is not ours", symbol.name);
            symbol.rename(&format!("local.{}", symbol.name));
        }
    }
}

/// The module's definitions, in the order of the view's bodies.
fn match_definitions<'ctx>(
    module: &Module<'ctx>,
    job: &ModuleJob,
    bodies: &[FunctionBody],
) -> Vec<FunctionValue<'ctx>> {
    let functions: Vec<_> = llvm::definitions(module).collect();
    assert_eq!(functions.len(), bodies.len(), "{}: definitions", job.name);
    for (f, body) in functions.iter().zip(bodies) {
        let name = f.get_name().to_string_lossy();
        assert!(
            name.is_empty() || name == body.name,
            "{}: order: {name}, {}",
            job.name,
            body.name
        );
    }
    functions
}
