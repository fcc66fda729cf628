//! The command of a suite: found, wrapped in what makes rounds alike, and run.

use super::SamePids;
use super::build::names;
use super::namespaces::{can_run_others, find_pid_namespace};
use crate::base::error::{Error, Result};
use crate::project::cc::Language;
use crate::project::cc::clang::Compiler;
use crate::project::interrupt::is_ending;
use crate::project::tools::{exit_code, require_success};
use crate::write::output::FIXED_TIME;
use rustix::fs::{Access, access};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The command as each round runs it.
pub(super) fn wrap_command(command: &[String], same_pids: SamePids) -> Result<Vec<String>> {
    let mut words = match same_pids {
        SamePids::Required => find_pid_namespace()?,
        SamePids::IfAllowed => find_pid_namespace().unwrap_or_default(),
        SamePids::Off => Vec::new(),
    };
    // As make run in an output folder does it.
    if can_run_others(&["setarch", "-R"]) {
        words.extend(["setarch", "-R"]);
    }
    let words = words.into_iter().map(String::from);
    Ok(words.chain(command.iter().cloned()).collect())
}

/// The command, to be run. Its first word is the program.
pub(super) fn start(command: &[String]) -> Command {
    let (program, arguments) = command
        .split_first()
        .expect("the command line requires one");
    let mut run = Command::new(program);
    run.args(arguments);
    run
}

/// Runs a command to its end; its exit status, as the shell has it.
///
/// # Errors
/// It cannot be run, or p3-rewrite is to end.
pub(super) fn execute(run: &mut Command, command: &[String]) -> Result<i32> {
    let interrupted = || Err(Error::Usage("interrupted; run it again".into()));
    if is_ending() {
        return interrupted();
    }
    let status: ExitStatus = run
        .status()
        .map_err(|e| cannot_run(&command[0], e.kind()))?;
    if is_ending() {
        return interrupted();
    }
    Ok(exit_code(status))
}

/// Why the command that starts with this word cannot be run.
fn cannot_run(name: &str, problem: ErrorKind) -> Error {
    let (problem, remedy) = match problem {
        ErrorKind::NotFound if name.contains(char::is_whitespace) => (
            "there is no such command".to_string(),
            "leave out the quotes around it, or use sh -c",
        ),
        ErrorKind::NotFound => ("there is no such command".into(), "name one after --"),
        ErrorKind::PermissionDenied => (
            "this file cannot be executed".into(),
            "name a program or script after --, or use chmod +x",
        ),
        other => (other.to_string(), "name a command after --"),
    };
    Error::Usage(format!("{name}: {problem}; {remedy}"))
}

/// Holds that a command is there: it is started by others, whose messages name others.
pub(super) fn find_command(name: &str) -> Result<()> {
    let is_program = |path: &Path| access(path, Access::EXEC_OK).is_ok() && path.is_file();
    let problem = if name.contains('/') {
        match std::fs::metadata(name) {
            Err(e) => e.kind(),
            Ok(_) if is_program(Path::new(name)) => return Ok(()),
            Ok(_) => ErrorKind::PermissionDenied,
        }
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let usual = names().into_iter().any(|(compiler, _)| compiler == name);
        if usual || std::env::split_paths(&path).any(|dir| is_program(&dir.join(name))) {
            return Ok(());
        }
        ErrorKind::NotFound
    };
    Err(cannot_run(name, problem))
}

/// What a library replaces that is preloaded into all processes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fixed {
    Random,
    RandomAndTime,
}

/// The library that replaces this, compiled into `folder`.
pub(super) fn compile_replacement(folder: &Path, what: Fixed) -> Result<PathBuf> {
    let (source, library) = (folder.join("fixed_time.c"), folder.join("fixed_time.so"));
    std::fs::write(&source, FIXED_TIME).map_err(|e| Error::write(&source, e))?;
    let compiler = Compiler::find(Language::C)?;
    let mut clang = compiler.command();
    clang
        .args(["-std=c11", "-O2", "-fPIC", "-shared"])
        .args((what == Fixed::Random).then_some("-DP3_KEEP_TIME"))
        .arg(&source)
        .arg("-o")
        .arg(&library);
    let run = clang.output().map_err(|e| compiler.run_error(&e))?;
    require_success(
        &run,
        "the library that replaces random numbers cannot be compiled",
    )?;
    Ok(library)
}
