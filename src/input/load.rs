//! Files and folders → bytes, kind and content hash of every input module.

pub mod container;
mod mlir;
mod optimize;
pub mod positions;
pub mod writer;

use crate::base::error::{Error, Result};
pub use optimize::{Level, Optimize};
use positions::Positions;
use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::ops::Deref;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// What an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// LLVM bitcode, with or without the wrapper header.
    Bitcode,
    /// LLVM assembly.
    Text,
}

/// An input module.
#[derive(Clone, Debug)]
pub struct Input {
    /// Where it was found.
    pub path: PathBuf,
    /// The file name, or the path below the folder that was named: unique among the inputs.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The position of the argument, if that is an archive: it is taken where something needs it.
    pub archive: Option<usize>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// blake3 of the bytes as they were read or, if they were optimised here, of those; hexadecimal.
    pub hash: String,
}

/// An input that LLVM's verifier accepts, and what only LLVM knows of it. `emit::admit` makes it.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The input, whose bytes are of the optimised module if it was optimised, and else those that were read.
    pub input: Input,
    /// Whether it is code for a device that has no files and processes.
    pub device: bool,
    /// Whether each thread can have counters of its own there.
    pub own_counters: OwnCounters,
    /// What loaders do not show of its blocks, ascending.
    pub hidden: Vec<Hidden>,
    /// By ordinal of the definition, the attribute that forbids profiling it.
    pub forbidden: Vec<Option<&'static str>>,
    /// Where its code is in the source.
    pub positions: Positions,
    /// By what it was optimised here.
    pub optimized: Option<Level>,
}

/// Whether each thread can have counters of its own, at a distance from those of the first thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnCounters {
    /// Segment gs can add the distance.
    BySegment,
    /// Functions can read the distance when they begin.
    ByDistance {
        /// Whether the module installs handlers of signals. An increment is several instructions there.
        handles_signals: bool,
    },
    /// The module is for another target.
    OtherTarget,
    /// The module uses the segment itself: by what.
    SegmentInUse(String),
    /// Code of a library runs before its constructors, when no thread has counters in it: this resolver of an ifunc.
    RunsEarly(String),
    /// A function may end in another thread than it began in, with the distance of that thread: what moves it there.
    Migration(String),
}

impl OwnCounters {
    /// Whether it can.
    pub fn is_possible(&self) -> bool {
        matches!(self, Self::BySegment | Self::ByDistance { .. })
    }
}

#[cfg(test)]
impl Admitted {
    /// For tests: an input of which nothing but what loaders show matters.
    pub(crate) fn admit_unverified(input: Input) -> Admitted {
        Admitted {
            input,
            device: false,
            own_counters: OwnCounters::OtherTarget,
            hidden: Vec::new(),
            forbidden: Vec::new(),
            positions: Positions::default(),
            optimized: None,
        }
    }
}

impl Deref for Admitted {
    type Target = Input;

    fn deref(&self) -> &Input {
        &self.input
    }
}

/// What attributes of callees, types, assembler code and uses of values say of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The ordinal of the definition.
    pub body: usize,
    /// The block's number in it.
    pub block: usize,
    /// Whether it holds something of which no copy may be made.
    pub single: bool,
    /// Whether it calls what may return a second time.
    pub returns_twice: bool,
    /// Whether it jumps to addresses that are all known ([`crate::input::ir::Block::known_labels`]).
    pub known_labels: bool,
    /// Its register pressure ([`crate::input::ir::Block::pressure`]).
    pub pressure: u32,
}

impl Hidden {
    /// A block that hides nothing.
    pub fn without_hidden(body: usize, block: usize) -> Hidden {
        Hidden {
            body,
            block,
            single: false,
            returns_twice: false,
            known_labels: false,
            pressure: 0,
        }
    }
}

const REMEDY: &str =
    "give .ll, .bc or -flto objects (clang -emit-llvm -c), archives of them, or a folder";
/// What takes sources.
const SOURCES: &str = "compile it by clang -emit-llvm, or by p3-cc (p3-rewrite build)";

/// Reads every input that `arguments` name, sorted by name.
///
/// Each is read once: what is hashed is what everything later works on. Pipes will do, `/dev/stdin` among them. A file
/// must hold IR; in a folder, files that do not are passed over, but one must. What lies in the folder `out` is not
/// looked at: an earlier run wrote it. Objects may carry bitcode (`-ffat-lto-objects`, `-fembed-bitcode`), programs
/// likewise, several modules even. Of archives all such members are taken; `emit::admit` leaves out those that nothing
/// needs. `pipeline` lowers `.mlir`.
pub fn find_inputs(
    arguments: &[PathBuf],
    out: &Path,
    pipeline: Option<&str>,
) -> Result<Vec<Input>> {
    let out = std::fs::canonicalize(out).ok();
    let mut inputs = Vec::new();
    for (i, (argument, meta)) in arguments.iter().zip(stat(arguments)?).enumerate() {
        if meta.is_dir() {
            inputs.extend(folder(argument, out.as_deref())?);
        } else if argument.extension().is_some_and(|e| e == "mlir") {
            let text = mlir::translate(argument, pipeline)?;
            inputs.push(input(argument, file_name(argument), Kind::Text, text)?);
        } else {
            inputs.extend(file(argument, &meta, i)?);
        }
    }
    inputs.sort_by(|a, b| a.name.cmp(&b.name));
    let mut names = HashMap::new();
    for input in &inputs {
        if let Some(other) = names.insert(&input.name, &input.path) {
            return Err(Error::load(
                &input.path,
                format!("same name as {}", other.display()),
                "rename one, or name the folder above both",
            ));
        }
    }
    Ok(inputs)
}

impl Kind {
    /// The ending of names of such files.
    pub fn extension(self) -> &'static str {
        match self {
            Kind::Bitcode => "bc",
            Kind::Text => "ll",
        }
    }
}

/// What the arguments are. No pipe may be among them twice: reading it again would never end.
fn stat(arguments: &[PathBuf]) -> Result<Vec<Metadata>> {
    let mut pipes = HashSet::new();
    let mut found = Vec::new();
    for argument in arguments {
        let meta = std::fs::metadata(argument).map_err(|e| Error::read(argument, e))?;
        if meta.file_type().is_fifo() && !pipes.insert((meta.dev(), meta.ino())) {
            let problem = "a pipe that is named twice, but can only be read once";
            return Err(Error::load(argument, problem, "name it once"));
        }
        found.push(meta);
    }
    Ok(found)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

/// The modules in a file, the argument at `position`.
fn file(path: &Path, meta: &Metadata, position: usize) -> Result<Vec<Input>> {
    let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
    let name = file_name(path);
    let found = if meta.is_file() {
        kind(path, &bytes)
    } else {
        bitcode(&bytes).or_else(|| text(&bytes))
    };
    match found {
        Some(kind) => Ok(vec![input(path, name, kind, bytes)?]),
        None if container::is_archive(&bytes) => archive(path, &name, &bytes, position),
        None => match modules_in(&bytes) {
            Ok(modules) => name_modules(path, &name, modules),
            Err(why) => Err(Error::load(path, why.0, why.1)),
        },
    }
}

/// The members of an archive that hold modules.
fn archive(path: &Path, name: &str, bytes: &[u8], position: usize) -> Result<Vec<Input>> {
    let members = container::members(path, bytes);
    let members = members
        .map_err(|e| Error::load(path, format!("a damaged archive: {e}"), "make it again"))?;
    let mut inputs = Vec::new();
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut why = (
        "an archive without members that contain bitcode".to_string(),
        REMEDY,
    );
    for member in members {
        let bytes = member.bytes.map_err(|e| {
            let problem = format!("its member {}: {e}", member.name);
            Error::load(path, problem, "make it again")
        })?;
        let modules = match kind(Path::new(&member.name), &bytes) {
            Some(Kind::Bitcode) => vec![bytes],
            _ => match modules_in(&bytes) {
                Ok(modules) => modules,
                Err(reason) => {
                    why.1 = reason.1;
                    continue;
                }
            },
        };
        let nth = times.entry(member.name.clone()).or_default();
        *nth += 1;
        let number = if *nth == 1 {
            String::new()
        } else {
            format!("-{nth}")
        };
        let of = name_modules(path, &format!("{name}/{}{number}", member.name), modules)?;
        inputs.extend(of.into_iter().map(|i| Input {
            archive: Some(position),
            ..i
        }));
    }
    if inputs.is_empty() {
        return Err(Error::load(path, why.0, why.1));
    }
    Ok(inputs)
}

/// Modules that came out of one file.
fn name_modules(path: &Path, name: &str, modules: Vec<Vec<u8>>) -> Result<Vec<Input>> {
    let numbered = modules.into_iter().enumerate();
    let one = |(i, bytes)| {
        let name = if i == 0 {
            name.to_string()
        } else {
            format!("{name}-{}", i + 1)
        };
        input(path, name, Kind::Bitcode, bytes)
    };
    numbered.map(one).collect()
}

/// The modules in machine code, or what the file is and what to do.
fn modules_in(bytes: &[u8]) -> Result<Vec<Vec<u8>>, (String, &'static str)> {
    let found = container::extract_embedded(bytes);
    match found {
        Ok(embedded) if !embedded.flags.is_empty() => Err((
            "an object of p3-cc".into(),
            "link it with p3-cc instead: the link makes the copies",
        )),
        Ok(embedded) => Ok(container::modules(&embedded.bitcode)),
        Err(_) => {
            let (what, remedy) = what_else(bytes);
            Err((what.to_string(), remedy))
        }
    }
}

fn folder(root: &Path, out: Option<&Path>) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    let is_out = |e: &walkdir::DirEntry| {
        out.is_some()
            && e.file_type().is_dir()
            && std::fs::canonicalize(e.path()).ok().as_deref() == out
    };
    let walk = WalkDir::new(root).sort_by_file_name().into_iter();
    for entry in walk.filter_entry(|e| !is_out(e)) {
        let entry = entry.map_err(|e| Error::walk(root, e))?;
        if !entry.file_type().is_file() {
            continue;
        }
        let bytes = std::fs::read(entry.path()).map_err(|e| Error::read(entry.path(), e))?;
        let below = entry
            .path()
            .strip_prefix(root)
            .expect("walked from the root");
        let name = below.to_string_lossy().into_owned();
        if let Some(kind) = kind(entry.path(), &bytes) {
            inputs.push(input(entry.path(), name, kind, bytes)?);
        } else if let Ok(modules) = modules_in(&bytes) {
            inputs.extend(name_modules(entry.path(), &name, modules)?);
        }
    }
    if inputs.is_empty() {
        return Err(Error::load(root, "no LLVM IR in this folder", REMEDY));
    }
    Ok(inputs)
}

/// What a manifest knows a module by, in hexadecimal digits. O(bytes).
pub(crate) fn hash_module(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn input(path: &Path, name: String, kind: Kind, bytes: Vec<u8>) -> Result<Input> {
    // Names appear in reports, where a line break would forge a line.
    if name.contains(char::is_control) {
        let message = format!("{path:?}: a control character in its name; rename it");
        return Err(Error::Usage(message));
    }
    let hash = hash_module(&bytes);
    Ok(Input {
        path: path.to_path_buf(),
        name,
        kind,
        archive: None,
        bytes,
        hash,
    })
}

/// Recognises IR by content; text also needs the name, since anything is text. (A pipe's name says nothing.)
fn kind(path: &Path, bytes: &[u8]) -> Option<Kind> {
    let named = path.extension().is_some_and(|e| e == "ll");
    bitcode(bytes).or_else(|| text(bytes).filter(|_| named))
}

fn bitcode(bytes: &[u8]) -> Option<Kind> {
    let wrapper = [0xDE, 0xC0, 0x17, 0x0B];
    let begins = bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&wrapper);
    begins.then_some(Kind::Bitcode)
}

/// Whether bytes can be text at all.
fn text(bytes: &[u8]) -> Option<Kind> {
    (!bytes.is_empty() && !bytes.contains(&0)).then_some(Kind::Text)
}

/// What a file that is no IR looks like, and what to do.
fn what_else(bytes: &[u8]) -> (&'static str, &'static str) {
    let elf = bytes.starts_with(b"\x7fELF");
    match bytes {
        [] => ("an empty file, not LLVM IR", REMEDY),
        _ if elf && container::has_section(bytes, ".gnu.lto_") => {
            ("an object of gcc -flto, not LLVM IR", SOURCES)
        }
        _ if elf => ("machine code (ELF), not LLVM IR", SOURCES),
        _ => ("not LLVM IR", REMEDY),
    }
}

#[cfg(test)]
mod tests;
