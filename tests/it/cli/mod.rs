//! The command lines: help, what bad input gives (one line that names file and remedy, exit 2,
//! nothing half-written), reports.

mod export;
mod folder;
mod function;
mod help;
mod merge;
mod report;
mod rewrite;

use crate::support::{compile, original, profile, project};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a command printed and its exit status, with the names of `dir` taken out.
fn transcript(command: &mut Command, dir: &Path) -> String {
    let output = command.env("PATH", "").current_dir(dir).output().unwrap();
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(dir.to_str().unwrap(), "DIR");
        text.replace(env!("CARGO_MANIFEST_DIR"), "PROJECT")
    };
    let code = output.status.code().expect("it was not killed");
    format!(
        "{}{}exit {code}\n",
        text(&output.stdout),
        text(&output.stderr)
    )
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(project("snapshots/cli"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"version \d+\.\d+\.\d+", "version X");
    // Sizes depend on the names of folders, and so does where half of a file ends.
    settings.add_filter(r"column \d+", "column N");
    settings.add_filter(
        r"(half.bc: LLVM \d+ cannot read it: error:) [^;]*",
        "$1 WHY",
    );
    settings.add_filter(r"EOF while parsing an? \w+", "EOF while parsing a value");
    settings.add_filter(
        r"\d+ bytes (of payload|long) instead of \d+",
        "N bytes $1 instead of M",
    );
    settings.add_filter(r"Reader: 'LLVM [^']*'", "Reader: 'LLVM'");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[track_caller]
fn one_line_error(text: &str) {
    assert!(text.ends_with("exit 2\n"), "{text}");
    assert_eq!(text.lines().count(), 2, "more than one line: {text}");
    assert!(text.starts_with("error: "), "{text}");
}

/// Bitcode of the demo program.
fn bitcode(dir: &Path) -> Vec<u8> {
    std::fs::read(&compile("demo", &["-O1"], dir)[0]).unwrap()
}

/// Every file below a folder, links not followed.
fn tree(dir: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter();
    let files = walk.map(Result::unwrap).filter(|e| !e.file_type().is_dir());
    files.map(walkdir::DirEntry::into_path).collect()
}

/// A merged profile of the `loops` program and the folder of its copies.
fn profiled(dir: &Path) -> (PathBuf, PathBuf) {
    let flags = ["-O1", "-g", "-fno-inline"];
    let (modules, expected) = original("loops", &flags, &["-O1"], dir);
    let out = dir.join("out");
    (
        profile(&modules, &["--scheme", "p3"], 3, &["-O1"], &expected, &out),
        out,
    )
}
