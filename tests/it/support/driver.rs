//! The C runtime, driven by `runtime_test.c` as rewritten modules would.

use super::{
    Made, llvm, objects_folder, project, run, runtime_files, runtime_headers, runtime_with,
};
use p3_rewrite::base::index::FuncId;
use p3_rewrite::profile::raw::{self, Raw};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Memory, and what C leaves undefined; threads.
pub(crate) const SANITIZERS: [&[&str]; 2] = [
    &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    &["-fsanitize=thread", "-fno-sanitize-recover=all"],
];

/// The driver, built with the runtime, in a folder of its own.
pub(crate) fn driver(dir: &Path, flags: &[&str]) -> PathBuf {
    let exe = dir.join("driver");
    // By a process of its own: what this one writes, a child that is being started may keep open, and it could not be
    // run.
    run(Command::new("cp")
        .arg(built("runtime_test", flags))
        .arg(&exe));
    exe
}

/// The same, with what programs of other schemes than `shadow` are linked with.
pub(crate) fn driver_without_shadows(dir: &Path, flags: &[&str]) -> PathBuf {
    let exe = dir.join("driver");
    let of_shadows = |f: &PathBuf| {
        let name = f.file_name().unwrap().to_str().unwrap();
        name.starts_with("p3_shadow") || name.starts_with("p3_budget")
    };
    let mut clang = Command::new(llvm("clang"));
    clang.args(["-std=gnu11", "-O1", "-pthread"]);
    clang.args(runtime_headers()).args(flags);
    clang.arg(project("tests/it/support/runtime_test.c"));
    clang.args(runtime_files().iter().filter(|f| !of_shadows(f)));
    run(clang.arg("-o").arg(&exe));
    exe
}

/// A C program of this folder, linked with the runtime: once for each set of flags, which both are compiled with.
pub(crate) fn built(name: &str, flags: &[&str]) -> PathBuf {
    static PROGRAMS: Made<PathBuf> = Made::new();
    let as_file = format!("{name}{}", flags.concat());
    PROGRAMS.get(&as_file, || {
        let exe = objects_folder().join(&as_file);
        let mut clang = Command::new(llvm("clang"));
        clang.args(["-std=gnu11", "-g", "-O1", "-pthread"]);
        clang.args(runtime_headers()).args(flags);
        clang.arg(project(&format!("tests/it/support/{name}.c")));
        run(clang.args(runtime(flags)).arg("-o").arg(&exe));
        exe
    })
}

/// The runtime's objects for it: what people link, unless it is to be compiled otherwise. Flags of links change nothing
/// of them.
pub(crate) fn runtime(flags: &[&str]) -> Vec<PathBuf> {
    let others: Vec<&str> = flags
        .iter()
        .filter(|f| f.starts_with("-f"))
        .copied()
        .collect();
    if others.is_empty() {
        return runtime_files().to_vec();
    }
    runtime_with(&[&["-O1", "-g"], &others[..]].concat())
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
