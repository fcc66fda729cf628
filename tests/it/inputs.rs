//! What p3-rewrite takes besides modules: archives, objects and programs that carry bitcode, MLIR.

use crate::support::text::assert_line;
use crate::support::{PROF, REWRITE, disassemble, json, llvm, modules, project, run};
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
            "an object of p3-cc; link it with p3-cc instead: the link makes the copies".to_string(),
        ),
    ] {
        let expected = (Some(2), format!("error: {file}: {problem}\n"));
        assert_eq!(rewrite(dir, &[file, "-o", "out"]), expected);
    }
}

/// The functions that `main` calls in a module, intrinsics apart.
fn called_by_main(module: &Path) -> Vec<String> {
    let text = disassemble(module);
    let main = text.split("@main(").nth(1).unwrap();
    let main = main.split("\n}").next().unwrap();
    let calls = main.split("call ").skip(1);
    let names = calls.filter_map(|c| c.split('@').nth(1)?.split('(').next());
    let names = names.filter(|n| !n.starts_with("llvm."));
    names.map(String::from).collect()
}

/// Two files that clang compiled for a link which would inline one into the other, linked to one module.
fn linked_for_lto(dir: &Path, kind: &str) {
    let far = "int near(int x) { return x % 7 == 3 ? x * 2 : x + 1; }\n";
    let main = "int near(int); int main(int n, char **v) { int s = 0;\n\
                for (int i = 0; i < 1000 + n; i++) s += near(i); return s == 1; }\n";
    for (name, text) in [("far", far), ("main", main)] {
        std::fs::write(dir.join(name).with_extension("c"), text).unwrap();
        let mut clang = Command::new(llvm("clang"));
        clang
            .current_dir(dir)
            .args(["-O2", kind, "-c", &format!("{name}.c")]);
        run(clang.arg(format!("-o{name}.o")));
    }
    let mut link = Command::new(llvm("llvm-link"));
    run(link
        .current_dir(dir)
        .args(["far.o", "main.o", "-o", "program.bc"]));
}

#[test]
fn module_for_lto_is_optimised_before_it_is_rewritten() {
    for kind in ["-flto", "-flto=thin"] {
        let dir = crate::support::folder();
        let dir = dir.path();
        linked_for_lto(dir, kind);
        let said = profiled(dir, &["program.bc"], &["program.bc"]);
        assert_line(
            &said,
            "warning: 1 module was compiled for link-time optimisation and is optimised (O2) before \
            the copies and native are made; --optimize none does without",
        );
        let manifest = json(&dir.join("out/manifest.json"));
        assert_eq!(manifest["modules"][0]["optimized"], "O2");
        assert_eq!(called_by_main(&dir.join("program.bc")), ["near"]);
        for module in ["native/m0.bc", "copy-0/m0.bc", "copy-1/m0.bc"] {
            let module = dir.join("out").join(module);
            assert_eq!(called_by_main(&module), [""; 0], "{module:?}");
        }
        // The profile is of the optimised module, whether that is given or what it was made from.
        for module in ["program.bc", "out/native/m0.bc"] {
            let mut annotate = Command::new(REWRITE);
            annotate
                .current_dir(dir)
                .args(["annotate", module, "--profile", "out", "-o"]);
            let done = run(annotate.args(["annotated.bc", "--force"]));
            let said = String::from_utf8(done.stderr).unwrap();
            assert_eq!(
                said, "annotated.bc: 2 of 2 functions annotated\n",
                "{module}"
            );
        }
    }
}

#[test]
fn optimising_first_can_be_chosen() {
    let dir = crate::support::folder();
    let dir = dir.path();
    linked_for_lto(dir, "-flto");
    let (status, said) = rewrite(dir, &["program.bc", "-o", "as-it-is", "--optimize", "none"]);
    assert_eq!(status, Some(0), "{said}");
    assert_line(
        &said,
        "warning: 1 module was compiled for link-time optimisation and is not optimised: LLVM inlines \
        less once counts are in them; --optimize 2 does it before",
    );
    let native = std::fs::read(dir.join("as-it-is/native/m0.bc")).unwrap();
    assert!(native == std::fs::read(dir.join("program.bc")).unwrap());
    let manifest = json(&dir.join("as-it-is/manifest.json"));
    assert!(manifest["modules"][0]["optimized"].is_null());
    // Of text, without flags.
    let text = "define i32 @main() {\n  %v = alloca i32\n  store i32 0, ptr %v\n  %r = load i32, ptr %v\n  ret i32 \
                %r\n}\n";
    std::fs::write(dir.join("main.ll"), text).unwrap();
    let (status, said) = rewrite(dir, &["main.ll", "-o", "s", "--optimize", "s"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(!said.contains("link-time"), "{said}");
    let manifest = json(&dir.join("s/manifest.json"));
    assert_eq!(manifest["modules"][0]["optimized"], "Os");
    let native = disassemble(&dir.join("s/native/m0.bc"));
    assert!(!native.contains("alloca"));
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
        said.starts_with("error: count.mlir: mlir-translate: "),
        "{said}"
    );
    assert!(said.contains("--mlir-pipeline"), "{said}");
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
