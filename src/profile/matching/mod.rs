//! Which functions of two programs are one: the two rules, which everything that joins or compares profiles follows.
//!
//! **Within one set of builds** ([`within`]): the programs of a folder, of `union`, of one report. A function is its
//! symbol, whether other modules see it, its source file and the line at which it begins. So an inline function that
//! many programs have is one, and the `main` of each program is a function of its own. Counts are added only if the
//! control flow is equal, too, since path ids mean the same paths only then; one source that two programs compiled to
//! different control flow has an entry for each, and their lines add up.
//!
//! **Across builds** ([`across`]): a program and the profile of an earlier one (`--profile`, `--paths new:`, `diff`, a
//! page's baseline). A function is its symbol, whether other modules see it, its source file and its control flow. The
//! line only chooses between equals, so that what is inserted above a function does not make it unknown.
//!
//! Where debug information does not say the source, the module stands in its place. Which files are one is in
//! [`files`].

mod across;
mod files;
mod within;

pub use across::{Index, Match};
pub(super) use files::Files;
pub(super) use within::Places;

use crate::base::index::FuncId;
use crate::input::ir::{Cfg, FunctionBody, Linkage, Module, Program};
use crate::profile::manifest::Manifest;

/// What is known of a function that is looked for.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The module of its first body.
    pub module: &'a str,
    /// The hash of that module's bytes, hexadecimal.
    pub hash: &'a str,
    /// Its symbol.
    pub name: &'a str,
    /// Whether only its module sees it.
    pub local: bool,
    /// The source file and the line at which it begins. `None` without debug information, and for what the compiler
    /// made.
    pub begins: Option<(&'a str, u32)>,
    /// Its control flow.
    pub cfg: &'a Cfg,
}

impl<'a> Known<'a> {
    /// What a manifest knows of function `f`, whose control flow is `cfg`.
    pub fn new(manifest: &'a Manifest, f: FuncId, cfg: &'a Cfg) -> Known<'a> {
        let entry = &manifest.functions[f];
        let module = &manifest.modules[entry.bodies[0].module];
        let begins = entry
            .loc
            .map(|l| (&*manifest.files[l.file as usize], l.line));
        Known {
            module: &module.name,
            hash: &module.hash,
            name: &entry.name,
            local: entry.linkage == Linkage::Local,
            begins,
            cfg,
        }
    }

    /// What is known of `body` in `module` of `program`.
    pub fn in_module(
        program: &'a Program,
        module: &'a Module,
        body: &'a FunctionBody,
    ) -> Known<'a> {
        let file = |file: u32| program.files[file as usize].name.as_str();
        Known {
            module: &module.name,
            hash: &module.hash,
            name: &body.name,
            local: body.linkage == Linkage::Local,
            begins: body.loc.map(|l| (file(l.file), l.line)),
            cfg: &body.cfg,
        }
    }
}

/// The files and modules of a build: what two builds have in common says whether their names can be compared.
#[derive(Clone, Default)]
pub struct Build<'a> {
    /// The name and the hash of each source file; "" where the hash is not known.
    pub files: Vec<(&'a str, &'a str)>,
    /// The name and the hash of each module.
    pub modules: Vec<(&'a str, &'a str)>,
}

impl<'a> Build<'a> {
    /// That of a manifest.
    pub fn of_manifest(manifest: &'a Manifest) -> Build<'a> {
        let checksum = |i: usize| manifest.checksums.get(i).map_or("", |c| c);
        let files = manifest.files.iter().enumerate();
        let modules = manifest.modules.iter();
        Build {
            files: files.map(|(i, f)| (f.as_str(), checksum(i))).collect(),
            modules: modules.map(|m| (&*m.name, &*m.hash)).collect(),
        }
    }

    /// That of a program that is being rewritten.
    pub fn of_program(program: &'a Program) -> Build<'a> {
        let files = program.files.iter();
        let modules = program.modules.iter();
        Build {
            files: files.map(|f| (&*f.name, &*f.checksum)).collect(),
            modules: modules.map(|m| (&*m.name, &*m.hash)).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
