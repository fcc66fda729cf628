//! MLIR in the LLVM dialect, or what a pipeline of `mlir-opt` lowers to it, translated by the tools of the same LLVM.

use crate::base::error::{Error, Result};
use crate::base::llvm::{self, LINKED};
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Gives functions a scope for debug information, without which their locations have no lines.
const SCOPES: &str = "--pass-pipeline=builtin.module(ensure-debug-info-scope-on-llvm-func)";

/// LLVM IR, as text, of the module of MLIR in `path`; `pipeline` lowers it first, in the words of
/// `mlir-opt --pass-pipeline`.
///
/// # Errors
/// The tools are not there, or do not take it.
pub(super) fn translate(path: &Path, pipeline: Option<&str>) -> Result<Vec<u8>> {
    let file = std::path::absolute(path).map_err(|e| Error::read(path, e))?;
    let file = file.as_os_str();
    let optimise = |options: &[&OsStr], input: &[u8]| {
        // What is printed for the next tool keeps the locations.
        let options = [&[OsStr::new("--mlir-print-debuginfo")], options].concat();
        tool(path, "mlir-opt", &options, input)
    };
    let lowered = match pipeline {
        None => None,
        Some(pipeline) => {
            let lowering = format!("--pass-pipeline={pipeline}");
            Some(optimise(&[lowering.as_ref(), file], &[])?)
        }
    };
    let scoped = match &lowered {
        None => optimise(&[SCOPES.as_ref(), file], &[]),
        Some(text) => optimise(&[SCOPES.as_ref()], text),
    };
    // The pass crashes where nothing is of the LLVM dialect; the translator says what is not.
    let text = match (scoped, lowered) {
        (Ok(text), _) | (Err(_), Some(text)) => text,
        (Err(_), None) => std::fs::read(path).map_err(|e| Error::read(path, e))?,
    };
    tool(
        path,
        "mlir-translate",
        &["--mlir-to-llvmir".as_ref()],
        &text,
    )
}

fn tool(path: &Path, name: &str, options: &[&OsStr], input: &[u8]) -> Result<Vec<u8>> {
    let names = [llvm::tool(name, LINKED), llvm::tool_in_prefix(name, LINKED)];
    let started = names.iter().find_map(|name| {
        let mut tool = Command::new(name);
        tool.args(options).stdin(Stdio::piped());
        tool.stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .ok()
    });
    let Some(child) = started else {
        let problem = format!("MLIR, and {} is not installed", names[0]);
        let remedy = format!(
            "install Debian's {}, or translate it by mlir-translate --mlir-to-llvmir",
            llvm::mlir_package(LINKED)
        );
        return Err(Error::load(path, problem, remedy));
    };
    let run = run_with_input(child, input).map_err(|e| Error::read(path, e))?;
    if run.status.success() {
        return Ok(run.stdout);
    }
    let said = String::from_utf8_lossy(&run.stderr);
    let said = said
        .lines()
        .find_map(|l| l.split_once("error: "))
        .map_or("it failed", |(_, said)| said);
    let remedy =
        "lower it to the LLVM dialect: --mlir-pipeline 'builtin.module(…)' is given to mlir-opt";
    Err(Error::load(path, format!("{name}: {said}"), remedy))
}

/// Runs to the end; the input is written from a thread of its own, for output may fill its pipe first.
fn run_with_input(mut child: Child, input: &[u8]) -> std::io::Result<Output> {
    let mut stdin = child.stdin.take().expect("it is piped");
    std::thread::scope(|scope| {
        // A tool that stops reading says why itself.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output()
    })
}
