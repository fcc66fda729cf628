//! Places in native code survive every linker and form of program: a loop that no function is called in is counted, and
//! a function by its entry.

use super::{are_gone, compile_with, files};
use crate::support::{
    PROF, copy_modules, llvm, module, parsed, project, rewrite, run, runtime_files,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const PARTS: [&str; 3] = [
    "-ffunction-sections",
    "-fdata-sections",
    "-Wl,--gc-sections",
];

/// What `long.c` counts in shadows, linked with `flags`; as a shared library if `library`.
fn counted(front: &[&str], flags: &[&str], library: bool) {
    let dir = crate::support::folder();
    let source = |name: &str| project("testdata/shadow").join(name);
    let text = std::fs::read_to_string(source("long.c")).unwrap();
    let modules = [module(
        "long.c",
        &text,
        &[&["-O1"], front].concat(),
        dir.path(),
    )];
    let out = dir.path().join("out");
    rewrite(&modules, &["--scheme", "shadow"], &out);
    let (native, shadowed) = (dir.path().join("native"), dir.path().join("shadowed"));
    let main = source("long_main.c");
    compile_with(&modules, std::slice::from_ref(&main), flags, &native);
    let copies = copy_modules(&modules, &out, 0);
    if library {
        let shared = dir.path().join("liblong.so");
        let flags: Vec<&str> = flags.iter().copied().chain(["-shared", "-fPIC"]).collect();
        compile_with(&copies, runtime_files(), &flags, &shared);
        let mut clang = Command::new(llvm("clang"));
        run(clang.arg(&main).arg(&shared).arg("-o").arg(&shadowed));
    } else {
        let objects: Vec<PathBuf> = [main].iter().chain(runtime_files()).cloned().collect();
        compile_with(&copies, &objects, flags, &shadowed);
    }
    let mut functions = BTreeSet::new();
    // When a shadow begins is up to the clock and to what a fork costs. Where that is much, a run has only one shadow,
    // and it begins in the loop unless the loop is left out.
    for i in 0..10 {
        let args: &[&str] = if i % 2 == 1 { &["short"] } else { &[] };
        let expected = Command::new(&native).args(args).output().unwrap();
        let raw = dir.path().join(format!("raw-{i}"));
        std::fs::create_dir(&raw).unwrap();
        let found = Command::new(&shadowed)
            .args(args)
            .env("P3_PROFILE_FILE", raw.join("%p.p3raw"))
            .env("P3_SHADOW", "load=1,burst=1M,cost=100%")
            .env("LD_LIBRARY_PATH", dir.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&found.stderr), "");
        assert_eq!(found.stdout, expected.stdout);
        assert_eq!(found.status, expected.status);
        assert!(are_gone(&shadowed));
        assert_eq!(files(&raw).len(), 1);
        functions.extend(functions_of(&out, &raw));
        if ["alone", "step"].iter().all(|&f| functions.contains(f)) {
            return;
        }
    }
    panic!("{functions:?}");
}

fn functions_of(out: &Path, raw: &Path) -> BTreeSet<String> {
    let merged = out.join("merged.p3prof");
    let mut merge = Command::new(PROF);
    merge.args(["merge", "-m"]).arg(out.join("manifest.json"));
    run(merge.arg("-o").arg(&merged).arg(raw));
    let mut show = Command::new(PROF);
    let shown = run(show.arg("show").arg(&merged).args(["--format", "json"]));
    let shown = parsed(&shown.stdout);
    let paths = shown["paths"].as_array().unwrap().iter();
    paths
        .map(|p| p["function"].as_str().unwrap().to_string())
        .collect()
}

/// Linked without the sections that nobody needs.
fn without_parts(flags: &[&str]) {
    counted(&PARTS[..2], &[&PARTS[..], flags].concat(), false);
}

#[test]
fn bfd_without_sections_that_nobody_needs() {
    without_parts(&["-fuse-ld=bfd"]);
}

#[test]
fn gold_without_sections_that_nobody_needs() {
    without_parts(&["-fuse-ld=gold"]);
}

#[test]
fn lld_without_sections_that_nobody_needs() {
    without_parts(&["-fuse-ld=lld"]);
}

#[test]
fn equal_functions_folded() {
    for linker in ["-fuse-ld=lld", "-fuse-ld=gold"] {
        without_parts(&["-Wl,--icf=all", linker]);
    }
}

#[test]
fn optimised_when_linked() {
    counted(&[], &["-flto", "-fuse-ld=lld"], false);
}

#[test]
fn fixed_and_movable() {
    counted(&["-fno-pic"], &["-static"], false);
    counted(&["-fno-pic"], &["-no-pie"], false);
    counted(&["-fPIE"], &["-static-pie"], false);
}

#[test]
fn shared_libraries() {
    counted(&["-fPIC"], &[], true);
}
