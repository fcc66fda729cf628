//! `--function`, `--include` and `--exclude`, in both programs.

use super::{one_line_error, profiled, snapshot, transcript};
use crate::support::{PROF, REWRITE, llvm, run};
use std::process::Command;

/// An expression that matches no function is an error that says why, in every command, before anything is written.
#[test]
fn nothing_chosen() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let module = dir.join("names.ll");
    let naked = "define void @bare() naked {\n  unreachable\n}\n";
    let others = "declare void @outside()\n\
        define void @_ZN4Tree6insertEi() {\n  call void @outside()\n  ret void\n}\n\
        define i32 @main() {\n  call void @_ZN4Tree6insertEi()\n  ret i32 0\n}\n";
    std::fs::write(&module, format!("{naked}{others}")).unwrap();
    let mut all = String::new();
    for case in [
        &["--include", "^mian$"][..],
        &["--include", "main", "--include", "Tree::inset"],
        &["--include", "bare"],
        &["--include", "xylophone"],
        &["--include", "outside"],
        &["--stats", "--function", "tree::"],
        &["--dump", "cfg", "--function", "^insert$"],
    ] {
        let mut command = Command::new(REWRITE);
        let text = transcript(command.args(["names.ll", "-o", "out"]).args(case), dir);
        one_line_error(&text);
        all += &format!("$ p3-rewrite {}\n{text}", case.join(" "));
        assert!(!dir.join("out").exists(), "{case:?}");
    }
    // Readable names choose as symbols do.
    let options = [
        "--include",
        r"^Tree::insert\(int\)$",
        "--exclude",
        "^main$",
        "--stats",
        "--function",
        "Tree::",
    ];
    let mut command = Command::new(REWRITE);
    let text = transcript(
        command
            .args(["names.ll", "-k", "2", "-o", "out"])
            .args(options),
        dir,
    );
    assert!(text.contains("1 exact, 0 cut, 2 skipped"), "{text}");
    assert!(
        text.lines()
            .any(|l| l.starts_with("Tree::insert(int)  exact")),
        "{text}"
    );

    // Of selected paths, it is said how many functions have some.
    let mut command = Command::new(REWRITE);
    let options = [
        "names.ll",
        "-k",
        "1",
        "-o",
        "some",
        "--paths",
        "through=main",
    ];
    let text = transcript(command.args(options), dir);
    let functions = "functions: 1 with selected paths, 1 without, 1 skipped, 0 split;";
    assert!(text.contains(functions), "{text}");

    let (profile, _) = profiled(&dir.join("loops"));
    let profile = profile.to_str().unwrap();
    for command in [
        &["show", profile][..],
        &["show", profile, "--edges"],
        &["accuracy", profile],
        &["coverage", profile],
        &["diff", profile, profile],
        &["export", profile, "--format", "json"],
    ] {
        let mut prof = Command::new(PROF);
        let text = transcript(prof.args(command).args(["--function", "^mian$"]), dir);
        one_line_error(&text);
        assert!(text.contains("nearest: main"), "{text}");
    }
    snapshot("nothing_chosen", &all);
}

/// Where debug information remembers them, functions that were inlined everywhere are told with where they went:
/// through functions that are gone themselves, by symbol and by readable name.
#[test]
fn nothing_chosen_but_inlined() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let c = "extern int in(void);\n\
        static int inner(int x) { if (x) { int y = in(); return y * x; } return 7; }\n\
        static int middle(int x) { return inner(x) + in(); }\n\
        int a(void) { return middle(in()); }\nint b(void) { return inner(in()); }\n\
        int c(void) { return inner(in()); }\nint d(void) { return inner(in()); }\n";
    let cxx = "extern int in();\nnamespace N { static int gone(int x) { return in() * x; } }\n\
        int kept(int x) { return N::gone(x); }\n";
    for (compiler, name, source) in [("clang", "c.c", c), ("clang++", "cxx.cpp", cxx)] {
        std::fs::write(dir.join(name), source).unwrap();
        for (debug, folder) in [("-g", "with"), ("-g0", "without")] {
            std::fs::create_dir_all(dir.join(folder)).unwrap();
            let out = dir.join(folder).join(name).with_extension("bc");
            let mut command = Command::new(llvm(compiler));
            command.args(["-O2", debug, "-emit-llvm", "-c", "-o"]);
            run(command.arg(out).arg(dir.join(name)));
        }
    }
    for (folder, pattern, remedy) in [
        (
            "with",
            "^middle$",
            "middle was inlined into a (-fno-inline keeps it)",
        ),
        (
            "with",
            "^inner$",
            "inner was inlined into a, b, c, 1 more (-fno-inline keeps it)",
        ),
        (
            "with",
            "^N::gone",
            "N::gone(int) was inlined into kept(int) (-fno-inline keeps it)",
        ),
        (
            "with",
            "^_ZN1NL4goneEi$",
            "N::gone(int) was inlined into kept(int) (-fno-inline keeps it)",
        ),
        ("with", "^in$", "in is called, but no input defines it"),
        (
            "without",
            "^middle$",
            "functions that were inlined everywhere are gone (-fno-inline keeps them)",
        ),
    ] {
        for option in ["--include", "--function"] {
            let mut command = Command::new(REWRITE);
            let text = transcript(command.args([folder, "-o", "out", option, pattern]), dir);
            one_line_error(&text);
            let start = format!("error: {option} '{pattern}' matches no function; ");
            assert_eq!(text, format!("{start}{remedy}\nexit 2\n"));
        }
    }
}
