//! The C runtime, driven by `runtime_test.c` as rewritten modules would.

use super::{llvm, project, run};
use p3_rewrite::index::FuncId;
use p3_rewrite::profile::raw::{self, Raw};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The sources of the C runtime.
pub(crate) fn sources() -> Vec<PathBuf> {
    let folder = project("runtime-c").read_dir().unwrap();
    let mut files: Vec<PathBuf> = folder.map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort();
    files
}

/// Builds the driver with the runtime.
pub(crate) fn driver(dir: &Path, flags: &[&str]) -> PathBuf {
    let exe = dir.join("driver");
    let mut clang = Command::new(llvm("clang"));
    clang
        .args(["-std=gnu11", "-g", "-O1", "-pthread", "-I"])
        .arg(project("runtime-c"))
        .args(flags);
    run(clang
        .args(sources())
        .arg(project("tests/it/support/runtime_test.c"))
        .arg("-o")
        .arg(&exe));
    exe
}

/// Runs the driver in `dir`; the raw profiles it left, by name.
pub(crate) fn drive(
    exe: &Path,
    what: &str,
    pattern: Option<&str>,
    dir: &Path,
) -> (Output, BTreeMap<String, Raw>) {
    let mut command = Command::new(exe);
    command
        .args(what.split(' '))
        .current_dir(dir)
        .env_remove("P3_PROFILE_FILE");
    if let Some(pattern) = pattern {
        command.env("P3_PROFILE_FILE", pattern);
    }
    let output = command.output().unwrap();
    let mut profiles = BTreeMap::new();
    for entry in walkdir::WalkDir::new(dir) {
        let path = entry.unwrap().into_path();
        if path.to_str().unwrap().contains("p3raw") && path.is_file() {
            let name = path
                .strip_prefix(dir)
                .unwrap()
                .to_str()
                .unwrap()
                .to_string();
            profiles.insert(name, raw::parse(&std::fs::read(&path).unwrap()).unwrap());
            std::fs::remove_file(path).unwrap();
        }
    }
    (output, profiles)
}

/// The counts of the array (7) or the table (9).
pub(crate) fn counts(raw: &Raw, function: u32) -> BTreeMap<u64, u64> {
    let f = raw.functions.get(&FuncId(function));
    f.map(|f| f.counts.clone()).unwrap_or_default()
}
