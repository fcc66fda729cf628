//! Programs that we call: where they are, how they ended, and which of their lines says why.

use crate::base::error::{Error, Result};
use crate::base::llvm;
use crate::base::names::escape_unprintable;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output};

/// An exit status as the shell has it: that of what was killed is 128 and the signal.
pub(crate) fn exit_code(status: ExitStatus) -> i32 {
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
pub(crate) fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

/// A program in `PATH` that is not one of ours by another name, as the folders of `p3-rewrite build` hold.
pub(crate) fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|dir| dir.join(name));
    files.find(|f| f.is_file() && !is_ours(f))
}

/// Whether a file is a link to one of our programs. Ours are installed where clang may be, too.
pub(crate) fn is_ours(file: &Path) -> bool {
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

/// Nothing, if a tool succeeded.
///
/// # Errors
/// It failed: `problem`, and the line of what it printed that says why.
pub(crate) fn require_success(run: &Output, problem: &str) -> Result<()> {
    if run.status.success() {
        return Ok(());
    }
    Err(Error::Usage(format!("{problem}: {}", complaint(run))))
}

/// A path, from here if it is below.
pub(crate) fn path_from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(&here).unwrap_or(path);
    escape_unprintable(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed_output(status: i32, stderr: &str) -> Output {
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
            assert_eq!(complaint(&failed_output(status, stderr)), line);
        }
    }
}
