//! Engines: programs that read and write modules, one for each LLVM. `p3-rewrite` needs no LLVM itself: it looks at
//! who wrote the inputs and becomes the engine of the lowest version that reads all of them.
//!
//! Bitcode names its writer. Text does not, so what parses it is tried: an engine that cannot read it becomes the
//! next one, as long as there is a newer. Nothing has been written by then.

use crate::base::error::{Error, Result};
use crate::base::llvm::{self, LINKED, VERSIONS};
use crate::input::load::container;
use crate::input::load::writer::{Producer, writer};
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, tee};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use walkdir::WalkDir;

/// The variable with the folders in which engines are, separated like `PATH`, instead of the usual ones.
pub const FOLDERS: &str = "P3_ENGINES";
/// The variable that chooses an engine by its version, like `--llvm`.
pub const WANTED: &str = "P3_LLVM";
/// The variable by which an engine knows those to be tried after it.
const LATER: &str = "P3_LATER_ENGINES";

/// An engine that is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// The major version of its LLVM.
    pub llvm: u32,
    /// Its file.
    pub path: PathBuf,
}

/// The folders that the variable names.
fn named_folders() -> Option<Vec<PathBuf>> {
    let named = std::env::var_os(FOLDERS).filter(|v| !v.is_empty())?;
    Some(std::env::split_paths(&named).collect())
}

/// Where engines are looked for, if no variable says where: beside this program, and in its private folders.
fn usual_folders() -> Vec<PathBuf> {
    let us = std::env::current_exe().and_then(std::fs::canonicalize);
    let beside = us.ok().and_then(|us| Some(us.parent()?.to_path_buf()));
    let Some(beside) = beside else {
        return Vec::new();
    };
    let private = ["libexec/p3-rewrite", "lib/p3-rewrite"];
    let private = private.map(|below| beside.parent().unwrap_or(&beside).join(below));
    [beside].into_iter().chain(private).collect()
}

fn folders() -> Vec<PathBuf> {
    named_folders().unwrap_or_else(usual_folders)
}

/// The engines that are installed, oldest first.
///
/// Programs of cargo's `dev` profile find the engine of their own build only: one of another LLVM beside them was
/// left by a build with other features, of other sources, and tests would become it. `P3_ENGINES` names others.
pub fn find_installed() -> Vec<Engine> {
    let finds_all = !cfg!(debug_assertions) || LINKED == 0 || named_folders().is_some();
    let folders = folders();
    let of = |version: llvm::Version| {
        let name = llvm::engine_name(version.major);
        let mut files = folders.iter().map(|f| f.join(&name));
        let path = files.find(|f| f.is_file())?;
        let llvm = version.major;
        Some(Engine { llvm, path })
    };
    let mut versions = VERSIONS.to_vec();
    versions.retain(|v| finds_all || v.major == LINKED);
    versions.into_iter().filter_map(of).collect()
}

/// What an engine is chosen by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// Files and folders, as the engine will read them.
    pub inputs: &'a [PathBuf],
    /// The output folder, in which no input is looked for.
    pub out: Option<&'a Path>,
    /// The version that `--llvm` names.
    pub llvm: Option<u32>,
}

/// An engine, and those to try after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    engine: Engine,
    /// Newer ones, oldest first: not empty only where an input does not say who wrote it and can be read twice.
    later: Vec<Engine>,
}

/// The lowest engine that reads all inputs. A few system calls for each input; objects and archives are read whole.
///
/// # Errors
/// No engine is installed, or none that reads them, or not the one that is named.
pub fn choose(engines: &[Engine], request: &Request) -> Result<Choice> {
    if let Some(major) = request.llvm.map_or_else(wanted_version, |v| Ok(Some(v)))? {
        if engines.is_empty() {
            return Err(none_installed(None, major));
        }
        let named = engines.iter().find(|e| e.llvm == major);
        let alone = |engine: &Engine| Choice {
            engine: engine.clone(),
            later: Vec::new(),
        };
        return named
            .map(alone)
            .ok_or_else(|| not_installed(major, engines));
    }
    let mut found = InputWriters::default();
    for input in request.inputs {
        // What is wrong with an input is the engine's to say.
        let _ = found.look_at(input, request.out);
    }
    let Some(newest) = engines.last() else {
        let needed = found.newest.as_ref();
        let newest = VERSIONS[VERSIONS.len() - 1].major;
        return Err(none_installed(
            needed.map(|(_, path)| path.as_path()),
            needed.map_or(newest, |(needed, _)| *needed),
        ));
    };
    let (needed, path) = found.newest.unwrap_or_default();
    let mut able = engines.iter().filter(|e| e.llvm >= needed).cloned();
    let Some(lowest) = able.next() else {
        return Err(too_new(&path, needed, engines));
    };
    let (engine, later) = if found.is_unknown_once {
        // It cannot be tried twice.
        (newest.clone(), Vec::new())
    } else if found.is_unknown {
        (lowest, able.collect())
    } else {
        (lowest, Vec::new())
    };
    Ok(Choice { engine, later })
}

/// The version that the environment names.
///
/// # Errors
/// It is not a number.
pub fn wanted_version() -> Result<Option<u32>> {
    let text = std::env::var(WANTED).unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        Error::Usage(format!(
            "{WANTED}={text}: not a version of LLVM; unset it, or give one"
        ))
    })
}

impl Choice {
    /// The engine's file.
    pub fn program(&self) -> &Path {
        &self.engine.path
    }

    /// Becomes the engine, with the arguments of this process. Returns only on failure.
    pub fn start(&self) -> Error {
        match refuse_non_program(&self.engine) {
            Ok(()) => become_engine(&self.engine.path, &self.later),
            Err(e) => e,
        }
    }
}

/// Becomes the engine that is to be tried after this one. Returns if there is none, or it cannot be started.
pub fn try_next() {
    let later = std::env::var_os(LATER).unwrap_or_default();
    let mut later = std::env::split_paths(&later).filter(|p| !p.as_os_str().is_empty());
    if let Some(next) = later.next() {
        let rest = later.map(|path| Engine { llvm: 0, path });
        // The error that there is says more.
        let _ = become_engine(&next, &rest.collect::<Vec<_>>());
    }
}

/// Refuses a file that the system cannot execute. `execvp` would have the shell read it as a script: an empty file
/// would succeed and do nothing.
fn refuse_non_program(engine: &Engine) -> Result<()> {
    let read = |path: &Path| header(path).map_err(|e| Error::read(path, e));
    let theirs = read(&engine.path)?;
    if theirs.starts_with(b"#!") {
        return Ok(());
    }
    let us = std::env::current_exe().map_err(|e| Error::read("/proc/self/exe", e))?;
    let ours = read(&us)?;
    if theirs.len() == HEADER
        && [0..IDENTITY, MACHINE..HEADER]
            .into_iter()
            .all(|at| theirs[at.clone()] == ours[at])
    {
        return Ok(());
    }
    let problem = "it is no program for this machine";
    Err(Error::load(&engine.path, problem, remedy(engine.llvm)))
}

/// What an ELF file begins with: the bytes up to its machine; of these, what identifies the format; and where the
/// machine is.
const HEADER: usize = 20;
const IDENTITY: usize = 6;
const MACHINE: usize = 18;

fn header(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(HEADER as u64)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn become_engine(path: &Path, later: &[Engine]) -> Error {
    let mut engine = Command::new(path);
    engine.args(std::env::args_os().skip(1));
    match std::env::join_paths(later.iter().map(|e| &e.path)) {
        Ok(paths) if !later.is_empty() => engine.env(LATER, paths),
        _ => engine.env_remove(LATER),
    };
    Error::read(path, engine.exec())
}

/// What to say where there is no engine at all, and `needed` is the version that `input` or the user asks for.
fn none_installed(input: Option<&Path>, needed: u32) -> Error {
    let folders = folders();
    let folders: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    let fitting = llvm::version_that_reads(needed).unwrap_or(VERSIONS[VERSIONS.len() - 1]);
    let problem = format!(
        "no engine is installed (looked for {} in {})",
        llvm::engine_name(fitting.major),
        folders.join(", ")
    );
    let remedy = remedy(fitting.major);
    match input {
        Some(input) => Error::load(
            input,
            format!("written by LLVM {needed}, and {problem}"),
            remedy,
        ),
        None => Error::Usage(format!("{problem}; {remedy}")),
    }
}

/// The versions of engines, for people: `19, 22`.
pub fn list_versions(engines: &[Engine]) -> String {
    let versions: Vec<String> = engines.iter().map(|e| e.llvm.to_string()).collect();
    versions.join(", ")
}

/// Versions and folder, for people.
fn describe_engines(engines: &[Engine]) -> String {
    let folder = engines.first().and_then(|e| e.path.parent());
    let folder = folder.unwrap_or(Path::new("")).display();
    format!("LLVM {} in {folder}", list_versions(engines))
}

/// What installs the engine of a version that has one.
fn remedy(major: u32) -> String {
    let package = llvm::engine_package(major);
    format!("install {package} (from the sources: make build LLVM={major})")
}

fn not_installed(major: u32, engines: &[Engine]) -> Error {
    let there = describe_engines(engines);
    let remedy = match VERSIONS.iter().find(|v| v.major == major) {
        Some(version) => remedy(version.major),
        None => "name one of these".into(),
    };
    Error::Usage(format!(
        "LLVM {major}: no such engine here, but {there}; {remedy}"
    ))
}

/// What to do about code of `major` that no engine here reads, apart from compiling it otherwise.
pub fn remedy_for_writer(major: u32) -> String {
    match llvm::version_that_reads(major) {
        Some(version) => remedy(version.major),
        None => "choose an older toolchain".into(),
    }
}

fn too_new(path: &Path, needed: u32, engines: &[Engine]) -> Error {
    let problem = format!(
        "written by LLVM {needed}, which no engine here reads ({})",
        describe_engines(engines)
    );
    let newest = engines.last().map_or(0, |e| e.llvm);
    let clang = llvm::tool("clang", newest);
    let remedy = match llvm::version_that_reads(needed) {
        Some(version) => format!("{}, or compile it by {clang}", remedy(version.major)),
        None => format!("compile it by {clang} or older (p3-cc: P3_CC={clang})"),
    };
    Error::load(path, problem, remedy)
}

/// What the inputs tell of their writers.
#[derive(Default)]
struct InputWriters {
    /// The newest version that wrote one of them, and the file.
    newest: Option<(u32, PathBuf)>,
    /// Whether one does not say.
    is_unknown: bool,
    /// Whether such a one can be read only once.
    is_unknown_once: bool,
}

impl InputWriters {
    fn look_at(&mut self, input: &Path, out: Option<&Path>) -> std::io::Result<()> {
        let meta = std::fs::metadata(input)?;
        if meta.is_dir() {
            self.look_into(input, out);
        } else if meta.is_file() {
            self.look_at_file(input)?;
        } else if meta.file_type().is_fifo() {
            match writer(&peek(input)?) {
                Some(Producer::Llvm(major)) => self.note_version(major, input),
                _ => self.is_unknown_once = true,
            }
        }
        Ok(())
    }

    /// Modules below a folder; files of other kinds are none.
    fn look_into(&mut self, folder: &Path, out: Option<&Path>) {
        let out = out.and_then(|o| std::fs::canonicalize(o).ok());
        let is_out = |e: &walkdir::DirEntry| {
            e.file_type().is_dir()
                && out.is_some()
                && std::fs::canonicalize(e.path()).ok().as_deref() == out.as_deref()
        };
        let walk = WalkDir::new(folder).into_iter();
        let files = walk.filter_entry(|e| !is_out(e)).flatten();
        for file in files.filter(|e| e.file_type().is_file()) {
            let _ = self.look_at_file(file.path());
        }
    }

    fn look_at_file(&mut self, path: &Path) -> std::io::Result<()> {
        let mut file = File::open(path)?;
        let mut bytes = Vec::new();
        (&mut file).take(ENOUGH).read_to_end(&mut bytes)?;
        if let Some(writer) = writer(&bytes) {
            self.note_writer(writer, path);
        } else if bytes.starts_with(b"\x7fELF") {
            file.read_to_end(&mut bytes)?;
            self.take_all(&bytes, path);
        } else if container::is_archive(&bytes) {
            file.read_to_end(&mut bytes)?;
            for member in container::members(path, &bytes).unwrap_or_default() {
                let bytes = member.bytes.unwrap_or_default();
                match writer(&bytes) {
                    Some(writer) => self.note_writer(writer, path),
                    None => self.take_all(&bytes, path),
                }
            }
        } else if path.extension().is_some_and(|e| e == "ll") {
            self.is_unknown = true;
        }
        Ok(())
    }

    /// The modules in machine code.
    fn take_all(&mut self, bytes: &[u8], path: &Path) {
        let modules = container::all_embedded(bytes);
        let writers = modules.iter().filter_map(|m| writer(m));
        writers.for_each(|w| self.note_writer(w, path));
    }

    fn note_writer(&mut self, writer: Producer, path: &Path) {
        match writer {
            Producer::Llvm(major) => self.note_version(major, path),
            Producer::Unknown => self.is_unknown = true,
        }
    }

    fn note_version(&mut self, major: u32, path: &Path) {
        if self
            .newest
            .as_ref()
            .is_none_or(|(newest, _)| *newest < major)
        {
            self.newest = Some((major, path.to_path_buf()));
        }
    }
}

/// As many bytes as show who wrote a module.
const ENOUGH: u64 = 4096;

/// The first bytes of what is in a pipe, which stay in it. Waits for them. Nothing of a pipe that is not open already:
/// once its writer is gone, the engine could not open it again.
fn peek(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let open = ["/dev/stdin", "/dev/fd", "/proc"];
    if !open.iter().any(|of| path.starts_with(of)) {
        return Ok(bytes);
    }
    let (reader, sink) = pipe_with(PipeFlags::CLOEXEC)?;
    let file = File::open(path)?;
    tee(&file, &sink, ENOUGH as usize, SpliceFlags::empty())?;
    drop(sink);
    File::from(reader).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
