//! Compilers in place of yours: `p3-cc` and `p3-cxx`.
//!
//! They run clang. An object is what clang makes, machine code that any `ar`, `nm` or linker takes, and carries the
//! bitcode that it was made of in a section that linkers drop. At a link clang links first, as it would have, and the
//! linker tells what it took. The bitcode of that is optimised by the options with which it was compiled, rewritten as
//! one program, and each copy linked by the same command, its objects in the places of the others. What is put in the
//! program's place is one of the copies.
//!
//! ```text
//! clang       the compilers that do the work: which of those that are here
//! arguments   a compiler's command line: what it is asked for, which words are files
//! linker      what of it is for the linker
//! compile     objects with the bitcode that they were made of
//! trace       what a linker says that it linked
//! modules     the bitcode of that, optimised as it was compiled
//! link        the program, its copies, and what stands in its place
//! runtime     the runtime's objects, compiled once for a build
//! integrate   files by which build systems find our compilers
//! rust        rustc's bitcode, and how it is asked for
//! record      what was built where: what `suite` and `use` go by
//! unlinked    sources that were compiled and that no link took
//! suite       a command, once for every copy
//! apart       rounds of it at the same time
//! rounds      which of them ran other processes than the rest
//! interrupt   what ends and what goes when a signal ends a command
//! doctor      what of all that is called is there
//! ```

mod apart;
mod arguments;
mod clang;
mod compile;
pub mod doctor;
pub mod integrate;
pub mod interrupt;
mod link;
mod linker;
mod modules;
pub mod record;
mod rounds;
mod runtime;
pub mod rust;
pub mod suite;
mod trace;
pub mod unlinked;

use crate::base::error::{Error, Result};
use crate::base::llvm;
use arguments::{CommandLine, Task, Word};
use clang::Compiler;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output};

/// Which compiler stands in the place of yours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `p3-cc`, for clang.
    C,
    /// `p3-cxx`, for clang++.
    Cxx,
}

/// What the environment says of a build: compilers have no other options of ours, since whoever calls them knows none.
#[derive(Clone, Debug)]
struct Settings {
    /// Compile and link, and nothing else (`P3_OFF`).
    off: bool,
    /// `P3_COPIES`.
    copies: u32,
    /// The copy that is put in the program's place (`P3_COPY`).
    copy: u32,
    /// Whether that one alone is compiled and linked (`P3_ONLY`).
    only: bool,
    /// Where programs' folders go (`P3_OUT`); beside the programs if not given.
    out: Option<PathBuf>,
    /// The folder of the build (`P3_ROOT`): programs below it have the same place below `P3_OUT`.
    root: PathBuf,
    /// Whether data begins at the same addresses in all copies (`P3_ALIGN`), which takes address space.
    aligned: bool,
    /// More options of `p3-rewrite`, as the shell reads them (`P3_FLAGS`).
    flags: Vec<String>,
    /// The file in which `p3-rewrite build` sees that we were called (`P3_CALLS`).
    calls: Option<PathBuf>,
    /// The target of Rust's code ([`rust::TARGET`]), where that is what is built.
    rust: Option<String>,
}

/// The variable that names [`Settings::calls`].
const CALLS: &str = "P3_CALLS";
/// In [`Settings::calls`]: one of our compilers was called.
const CALLED: u8 = b'.';
/// Likewise: lines were added for copies.
const LINES_ADDED: u8 = b'l';

/// Runs the compiler with `arguments`; its exit status.
///
/// # Errors
/// There is no clang; what is in the environment makes no sense. What goes wrong with copies is a warning: the program
/// is there, as the compiler made it.
pub fn run(language: Language, arguments: Vec<String>) -> Result<u8> {
    let settings = Settings::from_environment()?;
    let compiler = Compiler::find(language)?;
    let line = CommandLine::new(arguments.iter().cloned());
    settings.note(CALLED);
    if settings.off || line.task == Task::Other || asks_only(&line) {
        if line.task == Task::Link {
            link::forget(&line, &settings);
        }
        return Err(compiler.become_it(&arguments));
    }
    if let Some(reason) = line.needs_lto() {
        return match line.task {
            Task::Link => {
                link::link_without_copies(&compiler, &arguments, &line, &settings, reason)
            }
            _ => Err(compiler.become_it(&arguments)),
        };
    }
    let without = without_lto(line.clone());
    let words = if without == line {
        arguments
    } else {
        without.arguments()
    };
    let given = Given {
        words,
        line: without,
    };
    if given.line.task == Task::Compile {
        compile::compile(&compiler, &given, &settings)
    } else {
        link::link(&compiler, &given, &settings)
    }
}

/// A command line as it is to be run, and read.
#[derive(Clone, Debug)]
struct Given {
    /// The words for clang: those that were given, response files as files, unless one of them is left out.
    words: Vec<String>,
    line: CommandLine,
}

impl Settings {
    /// Adds a byte to the file in which `p3-rewrite build` sees what its compilers did; it can do without.
    fn note(&self, what: u8) {
        let Some(calls) = &self.calls else {
            return;
        };
        let file = File::options().create(true).append(true).open(calls);
        let _ = file.and_then(|mut f| f.write_all(&[what]));
    }

    fn from_environment() -> Result<Settings> {
        let text = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        let number = |name: &str, default: u32| match text(name) {
            None => Ok(default),
            Some(v) => v.parse().map_err(|_| {
                Error::Usage(format!(
                    "{name}={v}: not a number; give a number, or unset {name}"
                ))
            }),
        };
        let flags = text("P3_FLAGS").unwrap_or_default();
        let Some(flags) = shlex::split(&flags) else {
            return Err(Error::Usage(format!(
                "P3_FLAGS={flags}: a quote is not closed; close it"
            )));
        };
        let is_set = |name: &str| text(name).is_some_and(|v| v != "0");
        Ok(Settings {
            off: is_set("P3_OFF"),
            only: is_set("P3_ONLY"),
            copies: number("P3_COPIES", 4)?,
            copy: number("P3_COPY", 0)?,
            out: text("P3_OUT").map(PathBuf::from),
            root: text("P3_ROOT").map_or_else(PathBuf::new, PathBuf::from),
            aligned: text("P3_ALIGN").is_none_or(|v| v != "0" && v != "no"),
            flags,
            calls: text(CALLS).map(PathBuf::from),
            rust: text(rust::TARGET),
        })
    }
}

/// An exit status as the shell has it: that of what was killed is 128 and the signal.
fn exit_code(status: ExitStatus) -> i32 {
    let killed = || 128 + status.signal().unwrap_or(0);
    status.code().unwrap_or_else(killed)
}

/// The line of what a tool printed that says best why it failed; how it ended if it printed nothing.
pub(crate) fn complaint(run: &Output) -> String {
    let said = String::from_utf8_lossy(&run.stderr);
    let lines = || said.lines().map(str::trim).filter(|l| !l.is_empty());
    // GNU ld calls none of its own lines an error; what clang prints behind them says nothing.
    let is_summary = |l: &&str| l.contains("linker command failed");
    let names_symbol = |l: &&str| {
        let words = ["undefined reference to", "multiple definition of"];
        words.iter().any(|w| l.contains(w))
    };
    let mut of_tool = lines().filter(|l| !is_summary(l));
    let line = lines()
        .find(names_symbol)
        .or_else(|| of_tool.clone().find(|l| l.contains("error:")))
        .or_else(|| of_tool.next_back())
        .or_else(|| lines().next_back());
    let line = line.map(|l| l.trim_start_matches("error: ").to_string());
    let killed = run
        .status
        .signal()
        .map(|signal| format!("killed by signal {signal}"));
    match (line, killed) {
        (Some(line), None) => line,
        (Some(line), Some(killed)) => format!("{line} ({killed})"),
        (None, Some(killed)) => killed,
        (None, None) => match run.status.code() {
            Some(code) => format!("exit status {code} without a message"),
            None => "it ended without a message".into(),
        },
    }
}

/// Why a program of ours did not come as far as to say so itself, from the dynamic loader's own line, and the remedy:
/// LLVM's library is missing, or is not one.
pub(crate) fn not_loaded(run: &Output) -> Option<String> {
    const LOADER: [&str; 2] = [
        "error while loading shared libraries: ",
        "Error loading shared library ",
    ];
    let said = String::from_utf8_lossy(&run.stderr);
    let why = LOADER
        .iter()
        .find_map(|l| Some(said.lines().next()?.split_once(l)?.1));
    let why = why.filter(|_| run.status.code() == Some(127))?;
    let library = why.split_once("libLLVM").map_or("", |(_, version)| version);
    let package = match major(library.trim_start_matches(|c: char| !c.is_ascii_digit())) {
        Some(major) => format!(
            "LLVM {major}'s library (apt-get install {})",
            llvm::library_package(major)
        ),
        None => "that library".into(),
    };
    Some(format!(
        "p3-rewrite cannot start: {why}; install {package}, or name its folder by LD_LIBRARY_PATH"
    ))
}

/// The number before the first point of a version.
fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

/// A program in `PATH` that is not one of ours by another name, as the folders of `p3-rewrite build` hold.
fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|dir| dir.join(name));
    files.find(|f| f.is_file() && !is_ours(f))
}

/// Whether a file is a link to one of our programs. Ours are installed where clang may be, too.
fn is_ours(file: &Path) -> bool {
    let us = std::env::current_exe().ok();
    let file = std::fs::canonicalize(file).unwrap_or_default();
    let name = file.file_name().unwrap_or_default();
    file.parent() == us.as_deref().and_then(Path::parent)
        && name.as_encoded_bytes().starts_with(b"p3-")
}

/// Where one of our programs is: all of them lie in one folder.
pub(crate) fn our_program(name: &str) -> Result<PathBuf> {
    let us = std::env::current_exe().and_then(std::fs::canonicalize);
    let us = us.map_err(|e| Error::read("/proc/self/exe", e))?;
    let path = us.with_file_name(name);
    if path.is_file() {
        Ok(path)
    } else {
        Err(Error::read(path, std::io::ErrorKind::NotFound.into()))
    }
}

/// Whether the build system asks what the compiler can do, and the program is none of the project's: autoconf's
/// `conftest`, and what CMake and Meson make in folders of their own.
fn asks_only(line: &CommandLine) -> bool {
    let here = std::env::current_dir().unwrap_or_default();
    let output = line.output().unwrap_or("a.out".into());
    let stem = Path::new(&output).file_stem().unwrap_or_default();
    let sources = line
        .sources()
        .map(|s| Path::new(s).file_stem().unwrap_or_default());
    if sources
        .chain([stem])
        .any(|s| s.to_string_lossy().starts_with("conftest"))
    {
        return true;
    }
    // An object of a project's own lies in CMakeFiles, too, but is not made there.
    let folders = match line.task {
        Task::Link => here.join(&output),
        _ => here,
    };
    let names = ["CMakeFiles", "meson-private"];
    folders
        .components()
        .any(|c| names.iter().any(|n| c.as_os_str() == *n))
}

/// Objects must be machine code: optimising at the link is left out, as `docs/BUILD.md` says.
fn without_lto(mut line: CommandLine) -> CommandLine {
    let begins = [
        "-flto",
        "-ffat-lto-objects",
        "-fsplit-lto-unit",
        "-fthinlto-index",
        "-funified-lto",
        "-fvirtual-function-elimination",
        "-fwhole-program-vtables",
        "-fembed-bitcode",
    ];
    line.words.retain(|w| match w {
        Word::Option(words) => !begins.iter().any(|b| words[0].starts_with(b)),
        _ => true,
    });
    line.words = linker::without_plugin_options(&line.words);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(status: i32, stderr: &str) -> Output {
        Output {
            status: ExitStatus::from_raw(status),
            stdout: Vec::new(),
            stderr: stderr.into(),
        }
    }

    #[test]
    fn complaint_is_the_line_that_names_the_cause() {
        const FAILED: i32 = 1 << 8;
        let ld = "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x5): undefined reference to `gone'\n\
                  clang: error: linker command failed with exit code 1 (use -v to see invocation)\n";
        let bad = "/usr/bin/ld: bad -plugin-opt option\nclang: error: linker command failed with exit code 1\n";
        for (status, stderr, line) in [
            (FAILED, ld, "a.c:(.text+0x5): undefined reference to `gone'"),
            (FAILED, bad, "/usr/bin/ld: bad -plugin-opt option"),
            (FAILED, "note\nerror: a.bc: damaged\n\n", "a.bc: damaged"),
            (FAILED, "nothing else\n", "nothing else"),
            (FAILED, "", "exit status 1 without a message"),
            (9, "", "killed by signal 9"),
            (9, "a warning\n", "a warning (killed by signal 9)"),
        ] {
            assert_eq!(complaint(&ended(status, stderr)), line);
        }
    }
}
