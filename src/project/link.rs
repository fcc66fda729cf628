//! A link: the program as the compiler makes it, its copies, and one of them in its place.

pub(crate) mod compile;
mod copies;
mod inputs;
mod modules;
pub(crate) mod reuse;
mod runtime;
mod staged;
pub(crate) mod trace;
pub mod unlinked;

use super::cc::Given;
use super::cc::arguments::CommandLine;
use super::cc::clang::Compiler;
use super::cc::settings::{LINES_ADDED, Settings};
use super::cc::word::Word;
use super::interrupt::Scratch;
use super::record::Failure;
use super::tools::require_success;
use crate::base::error::{Error, Result};
use crate::base::names::escape_unprintable;
use compile::StandardInput;
use copies::Link;
use modules::LinkedModules;
use runtime::CLibrary;
use rustix::fs::{FlockOperation, flock};
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use trace::Linked;

/// Whether a link has no C library, and so no place for the runtime. rustc names all libraries itself.
fn is_bare(line: &CommandLine) -> bool {
    let without_libraries = line.has_option("-nodefaultlibs") && !line.has_option("-lc");
    line.has_option("-nostdlib") || line.has_option("-nostartfiles") || without_libraries
}

/// Links; the exit status of the compiler.
pub(super) fn link(compiler: &Compiler, given: &Given, settings: &Settings) -> Result<u8> {
    let line = &given.line;
    let work = Scratch::new().map_err(|e| Error::write(std::env::temp_dir(), e))?;
    let input = StandardInput::capture(line.reads_stdin(), work.path())?;
    let has_sources = line.sources().next().is_some();
    if !has_sources && line.misses_input() {
        // The option by which the linker reports would be an input, and clang say less than it does.
        return Err(compiler.become_it(&given.words));
    }
    let (status, mut linked) = if has_sources {
        // First as it would have been: side files, messages and what is put into the program are clang's.
        let status = compiler
            .command()
            .args(&given.words)
            .stdin(input.open()?)
            .status();
        (compiler.status_of_run(status)?, Vec::new())
    } else {
        link_with_trace(compiler, &given.words)?
    };
    let output = line.output().unwrap_or("a.out".into());
    // A device, as /dev/null, is no program. (Below /dev there are files as well: /dev/shm.)
    let is_device = std::fs::metadata(&output).is_ok_and(|m| !m.is_file());
    if status != 0 || is_device {
        return Ok(status);
    }
    let program = std::fs::canonicalize(&output).map_err(|e| Error::read(&output, e))?;
    unlinked::note_link(settings, &program, line, &linked);
    if is_bare(line) {
        return Ok(status);
    }
    let folder = settings.folder(&program);
    let mut copies = || -> Result<()> {
        let native = Identity::read(&program)?;
        let mut words = line.words.clone();
        let mut names = HashMap::new();
        if has_sources {
            (words, names) = compile_sources(compiler, given, settings, &input, work.path())?;
            linked = trace_objects(compiler, &words, work.path())?;
            unlinked::note_link(settings, &program, line, &linked);
        }
        let found = LinkedModules::new(&linked, &names, settings.rust.as_deref())?;
        if found.modules.is_empty() {
            super::record::forget_copies(&folder);
            return Ok(());
        }
        let _lock = lock(&folder)?;
        if Identity::read(&program)? != native {
            // Another link of the same program came between: it makes the copies.
            return Ok(());
        }
        super::record::forget_copies(&folder);
        let shared = line.has_option("-shared");
        let link = Link {
            compiler,
            settings,
            words,
            sources: &names,
            program: program.clone(),
            folder: folder.clone(),
            found,
            work: work.path(),
            shared,
            libc: c_library(&linked, shared),
            names_libraries: line.has_option("-nodefaultlibs"),
        };
        link.make_copies(&line.arguments())
    };
    if let Err(e) = copies() {
        leave_without_copies(&output, program, &folder, &e.to_string());
    }
    Ok(0)
}

/// Notes that what was linked, which the command calls `output`, is no copy, and says why.
fn leave_without_copies(output: &str, program: PathBuf, folder: &Path, reason: &str) {
    let reason = escape_unprintable(reason).into_owned();
    anstream::eprintln!(
        "p3-cc: warning: {}: not profiled: {reason}",
        escape_unprintable(output)
    );
    // Where the folder cannot be written, that is the reason.
    let _ = Failure { program, reason }.write(folder);
}

/// Links as clang does, what cannot have copies for this `reason`; the exit status of the compiler.
pub(super) fn link_without_copies(
    compiler: &Compiler,
    arguments: &[String],
    line: &CommandLine,
    settings: &Settings,
    reason: &str,
) -> Result<u8> {
    let status = compiler.status_of_run(compiler.command().args(arguments).status())?;
    let output = line.output().unwrap_or("a.out".into());
    if status == 0
        && let Ok(program) = std::fs::canonicalize(&output)
        && program.is_file()
    {
        let folder = settings.folder(&program);
        leave_without_copies(&output, program, &folder, reason);
    }
    Ok(status)
}

/// Forgets copies of a program that is linked without.
pub(super) fn forget_copies(line: &CommandLine, settings: &Settings) {
    let output = line.output().unwrap_or("a.out".into());
    if let Ok(program) = std::fs::canonicalize(output) {
        super::record::forget_copies(&settings.folder(&program));
    }
}

/// Links objects as they are given; the exit status, and what the linker took.
fn link_with_trace(compiler: &Compiler, words: &[String]) -> Result<(u8, Vec<Linked>)> {
    let mut clang = compiler.command();
    // In front: behind a `--` it would be a file.
    clang
        .arg(trace::OPTION)
        .args(words)
        .stderr(Stdio::inherit());
    let native = clang.output().map_err(|e| compiler.run_error(&e))?;
    let told = String::from_utf8_lossy(&native.stdout);
    let (linked, other) = trace::parse(&told);
    for line in other {
        anstream::println!("{line}");
    }
    Ok((compiler.status_of_run(Ok(native.status))?, linked))
}

/// What the linker takes of these words, where sources became objects: the program goes to a scratch file.
fn trace_objects(compiler: &Compiler, words: &[Word], work: &Path) -> Result<Vec<Linked>> {
    let mut clang = compiler.command();
    clang.args([trace::OPTION, "-w"]);
    clang.args(modules::replace_files(words, &HashMap::new()));
    clang.arg("-o").arg(work.join("traced"));
    let run = clang.output().map_err(|e| compiler.run_error(&e))?;
    require_success(&run, "linking the program a second time failed")?;
    let told = String::from_utf8_lossy(&run.stdout);
    Ok(trace::parse(&told).0)
}

/// What tells a file from a later one of its name.
#[derive(PartialEq, Eq)]
struct Identity(u64, u64, i64, i64);

impl Identity {
    fn read(program: &Path) -> Result<Identity> {
        let m = std::fs::metadata(program).map_err(|e| Error::read(program, e))?;
        Ok(Identity(m.ino(), m.len(), m.mtime(), m.mtime_nsec()))
    }
}

/// Waits for other links of the same program: what is in a folder is of one of them.
fn lock(folder: &Path) -> Result<File> {
    let locked = || -> std::io::Result<File> {
        std::fs::create_dir_all(folder)?;
        let lock = File::open(folder)?;
        match flock(&lock, FlockOperation::LockExclusive) {
            // Not every file system has locks.
            Err(e) if e.kind() != std::io::ErrorKind::Unsupported => Err(e.into()),
            _ => Ok(lock),
        }
    };
    locked().map_err(|e| Error::write(folder, e))
}

type Compiled = (Vec<Word>, HashMap<String, String>);

/// Compiles the sources among the words of a link, one by one. The words with objects in their places, and the names of
/// these by those of the sources.
fn compile_sources(
    compiler: &Compiler,
    given: &Given,
    settings: &Settings,
    input: &StandardInput,
    work: &Path,
) -> Result<Compiled> {
    let mut names = HashMap::new();
    let mut words = Vec::new();
    for word in &given.line.words {
        match word {
            Word::Language(_) => {}
            Word::Source { file, .. } => {
                let object = work.join(format!("source-{}.o", names.len()));
                compile::compile_for_copies(compiler, given, word, input, &object)?;
                if compile::adds_lines(given, word) {
                    settings.note_work(LINES_ADDED);
                }
                let object = object.to_string_lossy().into_owned();
                names.insert(object.clone(), modules::without_parents(file));
                words.push(Word::Input(object));
            }
            other if other.writes_beside_link() => {}
            other => words.push(other.clone()),
        }
    }
    Ok((words, names))
}

/// The C library among what was linked, of a library if `is_library`: as a shared one by glibc's name (behind a
/// script's) or musl's.
fn c_library(linked: &[Linked], is_library: bool) -> CLibrary {
    let name = |of: &str| {
        Path::new(of)
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
    };
    let is_shared = |linked: &Linked| {
        matches!(linked, Linked::File(file) if name(file)
            .is_some_and(|n| n.starts_with("libc.so") || n.starts_with("ld-musl-")))
    };
    let is_static = |linked: &Linked| {
        matches!(linked, Linked::Member { archive, .. }
            if name(archive).is_some_and(|n| n == "libc.a"))
    };
    if linked.iter().any(is_shared) {
        CLibrary::Shared
    } else if !is_library && linked.iter().any(is_static) {
        CLibrary::Static
    } else {
        CLibrary::Unknown
    }
}
