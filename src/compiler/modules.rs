//! The bitcode of what was linked, optimised as it was compiled; and machine code of what was rewritten.
//!
//! Objects keep bitcode as it was before clang optimised it, and the options of `clang -cc1`. The same options optimise it
//! again, to what the object's code was made of, and make code of what was rewritten: without passes, so that a copy is the program
//! and its probes, and nothing is optimised that was not before.

use super::trace::Linked;
use super::{Compiler, Word};
use crate::error::{Error, Result};
use crate::load::container::{self, Embedded, Without};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

/// A module of a program.
#[derive(Clone, Debug)]
pub(super) struct Module {
    /// Where it was linked from.
    pub(super) from: Linked,
    /// Its name in the manifest: where its object is, or what it was compiled from.
    pub(super) name: String,
    /// Bitcode and options.
    pub(super) embedded: Embedded,
}

/// What was linked, told apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// What can be rewritten.
    pub(super) modules: Vec<Module>,
    /// Machine code that stays as it is, and why.
    pub(super) left: BTreeMap<String, &'static str>,
    /// The members of the archives of which some are modules, whole and in order.
    pub(super) archives: HashMap<String, Vec<container::Member>>,
}

impl Found {
    /// Reads what was linked. `names` are the names of objects that are only of this link: those of their sources.
    pub(super) fn new(linked: &[Linked], names: &HashMap<String, String>) -> Result<Found> {
        let mut found = Found::default();
        let mut taken = HashSet::new();
        for from in linked {
            let (object, bytes) = match from {
                Linked::File(path) => (path.clone(), read(path)?),
                Linked::Member { archive, member } => {
                    let name = format!("{archive}({member})");
                    match found.member(archive, member) {
                        Ok(bytes) => (name, bytes),
                        Err(why) => {
                            found.left.insert(name, why);
                            continue;
                        }
                    }
                }
            };
            match container::embedded(&bytes) {
                Ok(embedded) if !embedded.flags.is_empty() => {
                    let name = names.get(&object).cloned();
                    let name = name.unwrap_or_else(|| below(from));
                    let name = unique(name, &mut taken);
                    let from = from.clone();
                    found.modules.push(Module {
                        from,
                        name,
                        embedded,
                    });
                }
                Ok(_) => {
                    found
                        .left
                        .insert(object, "its bitcode was not left by p3-cc");
                }
                Err(Without::OneModule) => {
                    found
                        .left
                        .insert(object, "several objects were linked into it");
                }
                Err(Without::Bitcode) if is_machine_code(&bytes) => {
                    found
                        .left
                        .insert(object, "machine code, not compiled by p3-cc");
                }
                Err(Without::Bitcode) => {}
            }
        }
        found.archives.retain(|archive, _| {
            let of =
                |m: &Module| matches!(&m.from, Linked::Member { archive: a, .. } if a == archive);
            found.modules.iter().any(of)
        });
        Ok(found)
    }

    /// The bytes of a member: of which there must be one of that name, for a linker tells no more than that.
    fn member(
        &mut self,
        archive: &str,
        member: &str,
    ) -> std::result::Result<Vec<u8>, &'static str> {
        if !self.archives.contains_key(archive) {
            let bytes = std::fs::read(archive).unwrap_or_default();
            let members = container::members(Path::new(archive), &bytes).unwrap_or_default();
            self.archives.insert(archive.to_string(), members);
        }
        let mut named = self.archives[archive].iter().filter(|m| m.name == member);
        match (named.next(), named.next()) {
            (Some(one), None) => one
                .bytes
                .clone()
                .map_err(|_| "it cannot be read in the archive"),
            (Some(_), Some(_)) => Err("its archive has several members of this name"),
            _ => Err("it cannot be found in the archive"),
        }
    }
}

/// Whether an ELF file is an object: not a shared library, which was not linked into the program.
fn is_machine_code(bytes: &[u8]) -> bool {
    const E_TYPE: usize = 16;
    const ET_REL: u8 = 1;
    let elf = bytes.starts_with(b"\x7fELF") && bytes.len() > E_TYPE + 1;
    elf && (bytes[E_TYPE] == ET_REL || bytes[E_TYPE + 1] == ET_REL)
}

fn read(path: &str) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| Error::read(path, e))
}

/// A relative name for what was linked, without `..`: that of the file, from here if it is below.
fn below(from: &Linked) -> String {
    let (file, member) = match from {
        Linked::File(file) => (file, None),
        Linked::Member { archive, member } => (archive, Some(member)),
    };
    let here = std::env::current_dir().unwrap_or_default();
    let file = Path::new(file);
    let file = file.strip_prefix(&here).unwrap_or(file);
    let parts = file.components().filter_map(|c| match c {
        Component::Normal(part) => Some(PathBuf::from(part)),
        _ => None,
    });
    let path: PathBuf = parts
        .chain(member.map(|m| m.replace('/', "_").into()))
        .collect();
    let printable = |c: char| if c.is_control() { '_' } else { c };
    path.to_string_lossy().chars().map(printable).collect()
}

fn unique(name: String, taken: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let free = std::iter::once(name.clone())
        .chain(numbered)
        .find(|n| !taken.contains(n));
    let free = free.expect("numbers do not end");
    taken.insert(free.clone());
    free
}

/// Writes the modules, optimised, to files of their names below `folder`.
pub(super) fn optimise(
    modules: &[Module],
    compiler: &Compiler,
    folder: &Path,
    scratch: &Path,
) -> Result<()> {
    let one = |(i, module): (usize, &Module)| {
        let bitcode = scratch.join(format!("embedded-{i}.bc"));
        let optimised = folder.join(&module.name);
        std::fs::create_dir_all(optimised.parent().unwrap_or(folder))
            .map_err(|e| Error::write(folder, e))?;
        std::fs::write(&bitcode, &module.embedded.bitcode)
            .map_err(|e| Error::write(&bitcode, e))?;
        let mut flags = code_flags(&module.embedded.flags);
        flags.push("-emit-llvm-bc".into());
        cc1(compiler, &flags, &bitcode, &optimised, &module.name)
    };
    modules.par_iter().enumerate().try_for_each(one)
}

/// Makes an object of a rewritten module.
pub(super) fn generate(
    module: &Module,
    compiler: &Compiler,
    bitcode: &Path,
    object: &Path,
) -> Result<()> {
    let mut flags = code_flags(&module.embedded.flags);
    flags.extend(["-emit-obj", "-disable-llvm-passes"].map(String::from));
    cc1(compiler, &flags, bitcode, object, &module.name)
}

fn cc1(
    compiler: &Compiler,
    flags: &[String],
    input: &Path,
    output: &Path,
    name: &str,
) -> Result<()> {
    let mut clang = compiler.command();
    clang
        .args(flags)
        .args(["-w", "-x", "ir"])
        .arg(input)
        .arg("-o")
        .arg(output);
    let run = clang
        .stdin(Stdio::null())
        .output()
        .map_err(|e| compiler.failed(&e))?;
    if run.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&run.stderr);
    let said = said
        .lines()
        .find(|l| l.contains("error:"))
        .unwrap_or("clang failed");
    Err(Error::Usage(format!(
        "{name}: {said}; compile it by {}, or with P3_OFF=1",
        compiler.path.display()
    )))
}

/// The options of a compilation that say what code is made and how: not those that name other files to read or write.
fn code_flags(flags: &[String]) -> Vec<String> {
    const WITH_VALUE: [&str; 24] = [
        "-D",
        "-I",
        "-MQ",
        "-MT",
        "-U",
        "-coverage-data-file",
        "-coverage-notes-file",
        "-dependency-dot",
        "-dependency-file",
        "-diagnostic-log-file",
        "-header-include-file",
        "-idirafter",
        "-imacros",
        "-include",
        "-include-pch",
        "-internal-externc-isystem",
        "-internal-isystem",
        "-iquote",
        "-isystem",
        "-module-dependency-dir",
        "-opt-record-file",
        "-serialize-diagnostic-file",
        "-stack-usage-file",
        "-stats-file",
    ];
    const ALONE: [&str; 8] = [
        "-MG",
        "-MP",
        "-MV",
        "-Werror",
        "-emit-obj",
        "-fembed-bitcode=all",
        "-sys-header-deps",
        "-S",
    ];
    let mut kept = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        if WITH_VALUE.contains(&flag.as_str()) {
            rest.next();
        } else if !ALONE.contains(&flag.as_str()) {
            kept.push(flag.clone());
        }
    }
    kept
}

/// The value of an option of `-cc1`.
pub(super) fn value<'a>(flags: &'a [String], option: &str) -> Option<&'a str> {
    let at = flags.iter().position(|f| f == option)?;
    flags.get(at + 1).map(String::as_str)
}

/// The words of a link with files in the places of others: of those that the linker names so, alone or inside `-Wl,`.
pub(super) fn replaced(words: &[Word], by: &HashMap<String, PathBuf>) -> Vec<String> {
    let one = |file: &str| match by.get(file) {
        Some(path) => path.to_string_lossy().into_owned(),
        None => file.to_string(),
    };
    let arguments = words.iter().filter(|w| !matches!(w, Word::Output(_)));
    let arguments = arguments.flat_map(Word::arguments);
    let inside = |a: String| match a.strip_prefix("-Wl,") {
        Some(list) => {
            let parts: Vec<String> = list.split(',').map(one).collect();
            format!("-Wl,{}", parts.join(","))
        }
        None => one(&a),
    };
    arguments.map(inside).collect()
}

#[cfg(test)]
mod tests;
