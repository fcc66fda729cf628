//! What p3-rewrite takes besides modules: archives, objects and programs that carry bitcode, MLIR.

use crate::support::{PROF, REWRITE, llvm, modules, project, run};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The sources of the example project, in a folder of their own.
fn sources() -> TempDir {
    let dir = crate::support::folder();
    for name in [
        "lib/text.h",
        "lib/words.c",
        "lib/longest.c",
        "lib/unused.c",
        "src/common.c",
        "src/count.c",
    ] {
        let from = project("testdata/builds/project").join(name);
        std::fs::copy(&from, dir.path().join(from.file_name().unwrap())).unwrap();
    }
    std::fs::write(dir.path().join("limit.c"), "int text_limit = 5;\n").unwrap();
    dir
}

/// Compiles all sources with `flags`, and puts those of the library into an archive.
fn compile(dir: &Path, flags: &[&str]) {
    for name in ["words", "longest", "unused", "limit", "common", "count"] {
        let mut clang = Command::new(llvm("clang"));
        clang
            .current_dir(dir)
            .args(["-O1", "-c", &format!("{name}.c")]);
        run(clang.args(flags).arg(format!("-o{name}.o")));
    }
    let members = ["words.o", "longest.o", "unused.o", "limit.o"];
    run(Command::new(llvm("llvm-ar"))
        .current_dir(dir)
        .args(["rc", "libtext.a"])
        .args(members));
}

fn rewrite(dir: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(REWRITE)
        .current_dir(dir)
        .args(arguments)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// Rewrites a program to `out`, runs the copies, and holds that they counted everything.
#[track_caller]
fn profiled(dir: &Path, inputs: &[&str], expected: &[&str]) -> String {
    let arguments = [inputs, &["-k", "2", "-o", "out"]].concat();
    let (status, said) = rewrite(dir, &arguments);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(modules(&dir.join("out")), expected);
    std::fs::write(dir.join("lines"), "one two\nthree\n").unwrap();
    let mut make = Command::new("make");
    make.current_dir(dir)
        .args(["-s", "-C", "out", "run", "STDIN=lines", "COMPARE=stdout"]);
    run(make.arg(format!("P3_PROF={PROF}")).env("PWD", dir));
    run(Command::new(PROF)
        .args(["verify", "--strict"])
        .arg(dir.join("out/profile.p3prof")));
    said
}

const NEEDED: [&str; 5] = [
    "common.o",
    "count.o",
    "libtext.a/limit.o",
    "libtext.a/longest.o",
    "libtext.a/words.o",
];

#[test]
fn archives_give_what_is_needed() {
    for flags in [
        &["-flto"][..],
        &["-flto", "-ffat-lto-objects"],
        &["-fembed-bitcode"],
    ] {
        let dir = sources();
        compile(dir.path(), flags);
        let said = profiled(dir.path(), &["count.o", "common.o", "libtext.a"], &NEEDED);
        assert!(
            said.starts_with("warning: libtext.a: 3 of 4 members are needed\n"),
            "{flags:?}: {said}"
        );
    }
}

#[test]
fn archives_alone_are_taken_whole() {
    let dir = sources();
    compile(dir.path(), &["-flto"]);
    let (status, said) = rewrite(dir.path(), &["libtext.a", "-o", "out"]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(modules(&dir.path().join("out")).len(), 4);
}

#[test]
fn programs_that_carry_their_modules() {
    let dir = sources();
    compile(dir.path(), &["-fembed-bitcode"]);
    let mut link = Command::new(llvm("clang"));
    link.current_dir(dir.path()).args([
        "count.o",
        "common.o",
        "-L.",
        "-ltext",
        "-fuse-ld=lld",
        "-o",
        "prog",
    ]);
    run(&mut link);
    let all = ["prog", "prog-2", "prog-3", "prog-4", "prog-5"];
    profiled(dir.path(), &["prog"], &all);
}

#[test]
fn objects_of_other_compilers_say_what_to_do() {
    let dir = sources();
    let dir = dir.path();
    run(Command::new("gcc")
        .current_dir(dir)
        .args(["-flto", "-c", "common.c", "-o", "gcc.o"]));
    run(Command::new(env!("CARGO_BIN_EXE_p3-cc"))
        .current_dir(dir)
        .args(["-c", "common.c", "-o", "ours.o"]));
    let remedy = "compile it by clang -emit-llvm, or by p3-cc (p3-rewrite build)";
    for (file, problem) in [
        (
            "gcc.o",
            format!("an object of gcc -flto, not LLVM IR; {remedy}"),
        ),
        (
            "ours.o",
            "an object of p3-cc; link it by p3-cc, which makes the copies then".to_string(),
        ),
    ] {
        let expected = (Some(2), format!("error: {file}: {problem}\n"));
        assert_eq!(rewrite(dir, &[file, "-o", "out"]), expected);
    }
}

/// By `make test-builds`.
#[test]
#[ignore = "needs mlir-opt and mlir-translate"]
fn mlir_is_translated() {
    let dir = crate::support::folder();
    let dir = dir.path();
    std::fs::copy(
        project("testdata/builds/count.mlir"),
        dir.join("count.mlir"),
    )
    .unwrap();
    let lower = "builtin.module(convert-scf-to-cf,convert-func-to-llvm,convert-cf-to-llvm,convert-arith-to-llvm)";
    let (status, said) = rewrite(dir, &["count.mlir", "-o", "out"]);
    assert_eq!(status, Some(2));
    assert!(
        said.starts_with("error: count.mlir: mlir-translate: ") && said.contains("--mlir-pipeline"),
        "{said}"
    );
    profiled(
        dir,
        &["count.mlir", "--mlir-pipeline", lower],
        &["count.mlir"],
    );
    let show = run(Command::new(PROF)
        .arg("show")
        .arg(dir.join("out/profile.p3prof")));
    let show = String::from_utf8(show.stdout).unwrap();
    assert!(show.contains("count.mlir:"), "paths have lines: {show}");
}
