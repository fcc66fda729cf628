//! Selections by our compilers: what a diff does not touch is compiled as ever, and programs that a build finds up to
//! date do not pass for programs that count what is asked for now.

use crate::build::{command, folder, rewrite, stderr};
use crate::paths::prof;
use crate::support::text::assert_line;
use crate::support::{REWRITE, llvm, run};
use std::path::Path;
use std::process::Command;

const TOUCHED: &str = "int helper(int);
int main(int n, char **v) {
    if (n > 1)
        return helper(n) == 7;
    return v == 0;
}
";

/// Vectors, constants, a string and a call: several sections.
const UNTOUCHED: &str = "#include <stdio.h>
static const char *const names[] = {\"even\", \"odd\"};
int helper(int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i & 1 ? i : -i;
    puts(names[s & 1]);
    return s;
}
";

const PATCH: &str = "--- a/a.c
+++ b/a.c
@@ -1,4 +1,5 @@
 int helper(int);
 int main(int n, char **v) {
     if (n > 1)
+        return helper(n) == 7;
     return v == 0;
";

/// An object's bytes, without the sections that hold bitcode.
fn without_bitcode(object: &Path) -> Vec<u8> {
    let bare = object.with_extension("bare");
    let mut objcopy = Command::new(llvm("llvm-objcopy"));
    objcopy.args(["--remove-section=.p3code", "--remove-section=.p3flags"]);
    run(objcopy.arg(object).arg(&bare));
    std::fs::read(bare).unwrap()
}

#[test]
fn objects_of_untouched_files_are_those_of_clang() {
    let dir = folder(&[("a.c", TOUCHED), ("b.c", UNTOUCHED), ("p.diff", PATCH)]);
    let dir = dir.path();
    let script = "$CC -O2 -g -c a.c && $CC -O2 -g -c b.c && $CC -o prog a.o b.o";
    let build = ["build", "-k", "1", "-o", "p3", "--patch", "p.diff", "--"];
    rewrite(dir, &[&build[..], &["sh", "-c", script]].concat());
    let mut clang = Command::new(llvm("clang"));
    clang.args(["-O2", "-g", "-c", "b.c", "-o", "clang.o"]);
    run(clang.current_dir(dir));
    let expected = without_bitcode(&dir.join("clang.o"));
    assert!(without_bitcode(&dir.join("b.o")) == expected, "b.o");
    // Nobody has rewritten its bitcode, so the copy has the object itself.
    let manifest = crate::support::json(&dir.join("p3/prog.p3/manifest.json"));
    let names = manifest["modules"].as_array().unwrap();
    let at = names.iter().position(|m| m["name"] == "b.o").unwrap();
    let bitcode = |copy: &str| {
        let file = dir.join(format!("p3/prog.p3/{copy}/m{at}.bc"));
        std::fs::read(file).unwrap()
    };
    assert!(bitcode("copy-0") == bitcode("native"));
    let object = |m: usize| {
        let file = dir.join(format!("p3/prog.p3/obj/copy-0/m{m}.bc.o"));
        std::fs::read(file).unwrap()
    };
    let own = |name: &str| std::fs::read(dir.join(name)).unwrap();
    assert!(object(at) == own("b.o") && object(1 - at) != own("a.o"));
}

/// That is no error: it is said, and the copy is the program.
#[test]
fn diff_that_touches_no_code_instruments_nothing() {
    let source = "int main(int n, char **v) {\n    // Nothing is read.\n    return v == 0;\n}\n";
    let diff = "--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,4 @@\n int main(int n, char **v) {\n\
                +    // Nothing is read.\n     return v == 0;\n }\n";
    let dir = folder(&[("a.c", source), ("p.diff", diff)]);
    let dir = dir.path();
    let build = ["build", "-k", "1", "-o", "p3", "--patch", "p.diff", "--"];
    let script = "$CC -O1 -g -c a.c && $CC -o prog a.o";
    let said = stderr(&rewrite(dir, &[&build[..], &["sh", "-c", script]].concat()));
    for line in [
        "it touches no code of the program",
        "no path is selected in any program, so nothing is instrumented",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let read = |file: &str| std::fs::read(dir.join("p3/prog.p3").join(file)).unwrap();
    assert!(read("copy-0/m0.bc") == read("native/m0.bc"));
    assert!(read("obj/copy-0/m0.bc.o") == std::fs::read(dir.join("a.o")).unwrap());
}

/// The linker keeps the strong of two definitions, so the function is reported under its source.
#[test]
fn patch_of_strong_function_that_replaces_a_weak_one_is_counted() {
    let weak = "__attribute__((weak)) int hook(int x) { return x + 2; }
                int use(int x) { return hook(x); }\n";
    let strong = "int hook(int x) {\n    return x * 7;\n}\n";
    let main = "int use(int); int main(int n, char **v) { return use(n) != 7; }\n";
    let diff = "--- a/s.c\n+++ b/s.c\n@@ -1,3 +1,3 @@\n int hook(int x) {\n-    return x * 6;\n\
                +    return x * 7;\n }\n";
    let files = [
        ("a.c", weak),
        ("s.c", strong),
        ("m.c", main),
        ("d.diff", diff),
    ];
    let dir = folder(&files);
    let dir = dir.path();
    let script = "for f in m s a; do $CC -O1 -g -c $f.c || exit 1; done; $CC -o prog m.o s.o a.o";
    let build = ["build", "-k", "1", "-o", "p3", "--patch", "d.diff", "--"];
    let said = stderr(&rewrite(dir, &[&build[..], &["sh", "-c", script]].concat()));
    assert_line(&said, "p3: paths are selected in 1 of 1 program");
    rewrite(dir, &["suite", "-o", "p3", "--", "./prog"]);
    let diff = dir.join("d.diff");
    let patch = ["coverage", "--patch", diff.to_str().unwrap()];
    let (_, coverage) = prof(&patch, &[&dir.join("p3")]);
    assert!(
        coverage.contains("1 with code, of which 1 ran"),
        "{coverage}"
    );
}

/// A program that was linked for another selection, or before a profile that is known by now.
#[test]
fn programs_of_another_selection_are_named() {
    let makefile = "prog: a.c b.c\n\t$(CC) -O1 -g -o $@ a.c b.c\n";
    let dir = folder(&[
        ("a.c", TOUCHED),
        ("b.c", UNTOUCHED),
        ("p.diff", PATCH),
        ("Makefile", makefile),
    ]);
    let dir = dir.path();
    let build = |options: &[&str]| {
        let words = [&["build", "-k", "1", "-o", "p3"], options].concat();
        stderr(&rewrite(dir, &[&words[..], &["--", "make", "-s"]].concat()))
    };
    let warning = "prog: not linked again, so the selection of this build is not in them";
    let new = ["--paths", "new:runs/"];
    assert!(!build(&new).contains(warning));
    assert!(!build(&new).contains(warning), "nothing is known yet");
    assert!(build(&["--patch", "p.diff"]).contains(warning));
    assert!(build(&[]).contains(warning));
    let suite = ["suite", "-o", "p3", "--keep", "runs/", "--", "./prog", "x"];
    rewrite(dir, &suite);
    assert!(build(&new).contains(warning), "one path more is known");
    std::fs::remove_file(dir.join("prog")).unwrap();
    let said = build(&new);
    assert!(!said.contains(warning), "{said}");
    assert_line(&said, "p3: paths are selected in 1 of 1 program");
    assert!(!build(&new).contains(warning));
}

/// A build of which no program has what is named ends with status 2; one of several is enough.
#[test]
fn builds_without_what_is_named_are_refused_with_the_nearest() {
    let makefile = "all: one two\none: a.c b.c\n\t$(CC) -O1 -g -o $@ a.c b.c\n\
                    two: c.c\n\t$(CC) -O1 -g -o $@ c.c\n";
    let dir = folder(&[
        ("a.c", TOUCHED),
        ("b.c", UNTOUCHED),
        (
            "c.c",
            "int main(int n, char **v) { return n > 1 ? 0 : v == 0; }\n",
        ),
        ("Makefile", makefile),
    ]);
    let dir = dir.path();
    let build = |spec: &str| {
        let words = ["build", "-k", "1", "-o", "p3", "--paths", spec, "--"];
        let mut build = command(REWRITE, dir);
        let output = build
            .args(words)
            .args(["make", "-s", "-B"])
            .output()
            .unwrap();
        (output.status.code(), stderr(&output))
    };
    let (status, said) = build("through=halper");
    assert_eq!(status, Some(2), "{said}");
    let refused =
        "error: --paths through=halper: the program has no function halper; nearest: helper";
    assert_eq!(said.lines().last(), Some(refused), "{said}");
    let (status, said) = build("through=helper");
    assert_eq!(status, Some(0), "{said}");
    assert_line(&said, "p3: paths are selected in 1 of 2 programs");

    // What a suite does not run has no profile of an earlier one.
    let suite = |script: &str| {
        rewrite(dir, &["suite", "-o", "p3", "--", "sh", "-c", script]);
        let has_profile = |name: &str| dir.join(format!("p3/{name}.p3/profile.p3prof")).exists();
        ["one", "two"].map(has_profile)
    };
    let (status, said) = build("new:runs/");
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(suite("./one x; ./two"), [true, true]);
    assert_eq!(suite("./two"), [false, true]);
}

/// Whatever is wrong is refused with status 2 and one line, before anything is written.
#[test]
fn selections_that_cannot_be_met_are_refused_in_a_line() {
    let dir = folder(&[
        ("a.c", TOUCHED),
        ("b.c", UNTOUCHED),
        ("text", "hello\n"),
        ("empty/.keep", ""),
    ]);
    let dir = dir.path();
    let build = ["build", "-k", "1", "-o", "p3", "--"];
    rewrite(
        dir,
        &[&build[..], &["sh", "-c", "$CC -O1 -g -o prog a.c b.c"]].concat(),
    );
    rewrite(dir, &["suite", "-o", "p3", "--", "./prog", "x"]);
    let profile = dir.join("p3/prog.p3/profile.p3prof");
    let (text, empty) = (dir.join("text"), dir.join("empty"));
    let cut = dir.join("cut.p3prof");
    std::fs::write(&cut, &std::fs::read(&profile).unwrap()[..100]).unwrap();
    let with = |form: &str, file: &Path| format!("{form}:{}", file.display());
    let specs = [
        "".to_string(),
        "hot".into(),
        "through=".into(),
        "through=a.c".into(),
        "through=a.c:".into(),
        "through=a.c:0".into(),
        "through=a.c:9-3".into(),
        "through=a.c:999".into(),
        "through=c.c:3".into(),
        "through=halper".into(),
        "ids=main".into(),
        "ids=main#999".into(),
        "ids=main#-1".into(),
        "ids=main#99999999999999999999".into(),
        "ids=mian#0".into(),
        "patch=".into(),
        "patch=nowhere".into(),
        with("patch", &text).replacen(':', "=", 1),
        with("top=0", &profile),
        with("top=3", &text),
        with("top=3", &empty),
        with("share=101%", &profile),
        with("cold", &dir.join("nowhere")),
        with("new", &text),
        with("new", &cut),
        with("new", &dir.join("nowhere")),
        "new:,".into(),
    ];
    for spec in &specs {
        let (status, said) = prof(&["paths", spec], &[&profile]);
        assert_eq!(status, Some(2), "{spec}: {said}");
        assert_eq!(said.lines().count(), 1, "{spec}: {said}");
        assert!(said.starts_with("error: "), "{spec}: {said}");
        assert!(said.contains("; "), "{spec} has no remedy: {said}");
    }
}
