//! `--paths` from end to end: what is selected is counted, what is not is called so, and a run against earlier ones
//! finds exactly what these had not seen.

use crate::build::{command, rewrite, stderr};
use crate::support::text::{assert_line, in_dir};
use crate::support::{PROF, REWRITE, module, run_and_profile};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is said of a profile whose program was built without a selection of new paths.
const NOT_BUILT_FOR_NEW: &str = "the program was not built with --paths new:…, so nothing says what is known; name \
                                 earlier profiles by --new=PROFILE";

const SOURCE: &str = "int classify(int n) {
    int r = 0;
    if (n > 10)
        r += 1;
    if (n % 2)
        r += 2;
    return r;
}
int parity(int n) {
    if (n & 1)
        return 1;
    return 0;
}
int main(void) { return classify(NUMBER) + parity(NUMBER) < 0; }
";

/// The profile of a program that classifies a number, compiled as `src/a.c`, with the selected paths.
fn build(dir: &Path, name: &str, number: u32, options: &[&str]) -> PathBuf {
    let dir = dir.join(name);
    let number = format!("-DNUMBER={number}");
    std::fs::create_dir_all(dir.join("src")).unwrap();
    let modules = [module("src/a.c", SOURCE, &["-O0", "-g", &number], &dir)];
    let options = [&["--scheme", "sbl"], options].concat();
    run_and_profile(&modules, &options, 1, &[], &dir)
}

/// Status and everything that a command of p3-prof prints.
pub(crate) fn prof(words: &[&str], files: &[&Path]) -> (Option<i32>, String) {
    let output = Command::new(PROF).args(words).args(files).output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(all).unwrap())
}

/// What a command of p3-prof prints as JSON.
pub(crate) fn json(words: &[&str], files: &[&Path]) -> Value {
    let words = [words, &["--format", "json"]].concat();
    let output = Command::new(PROF)
        .args(&words)
        .args(files)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{words:?}: {e}: {said}"))
}

/// Function, id and count of what ran.
fn ran(file: &Path) -> BTreeSet<(String, String, u64)> {
    let shown = json(&["show"], &[file]);
    let functions = shown["functions"].as_array().unwrap();
    let of = |f: &Value| {
        let name = f["name"].as_str().unwrap().to_string();
        let paths = f["paths"].as_array().unwrap().clone();
        paths.into_iter().map(move |p| {
            let id = p["id"].as_str().unwrap().to_string();
            (name.clone(), id, p["count"].as_u64().unwrap())
        })
    };
    functions.iter().flat_map(of).collect()
}

/// Function and id of what `coverage --new` lists.
fn new_paths(words: &[&str], file: &Path) -> BTreeSet<(String, String)> {
    let found = json(&[&["coverage"], words].concat(), &[file]);
    let paths = found["new"].as_array().unwrap();
    let text = |p: &Value, key: &str| p[key].as_str().unwrap().to_string();
    paths
        .iter()
        .map(|p| (text(p, "name"), text(p, "id")))
        .collect()
}

fn without_counts(paths: &BTreeSet<(String, String, u64)>) -> BTreeSet<(String, String)> {
    paths
        .iter()
        .map(|(f, id, _)| (f.clone(), id.clone()))
        .collect()
}

#[test]
fn residual_run_finds_exactly_what_earlier_runs_had_not_seen() {
    let dir = crate::support::folder();
    let dir = dir.path();
    // 12 is even and above 10; 13 is odd: other paths through both functions, the same through main.
    let (first, whole) = (build(dir, "first", 12, &[]), build(dir, "whole", 13, &[]));
    let (before, now) = (without_counts(&ran(&first)), without_counts(&ran(&whole)));
    let expected: BTreeSet<_> = now.difference(&before).cloned().collect();
    assert_eq!(expected.len(), 2);

    let runs = dir.join("runs");
    std::fs::create_dir(&runs).unwrap();
    std::fs::copy(&first, runs.join("1.p3prof")).unwrap();
    let spec = format!("new:{}", runs.display());
    let residual = build(dir, "residual", 13, &["--paths", &spec]);
    assert_eq!(new_paths(&["--new"], &residual), expected);
    let earlier = format!("--new={}", runs.display());
    assert_eq!(new_paths(&[&earlier], &residual), expected);
    assert_eq!(new_paths(&[&earlier], &whole), expected);
    let (status, said) = prof(&["coverage", "--new", "--fail-on-new"], &[&residual]);
    assert_eq!(status, Some(1), "{said}");
    let lines = [
        "2 new paths, 6 new pairs of edges, 2 new lines; 0 paths ran that are known",
        "    nearest known: #1, with n % 2 false at 5",
        "    nearest known: #1, with n & 1 false at 10",
        "error: 2 paths ran for the first time (--fail-on-new)",
    ];
    for line in lines {
        assert_line(&said, line);
    }

    // The union knows both runs, and of what the second did not count that it ran at least as often as in the first.
    let union = dir.join("union.p3prof");
    let files: [&Path; 2] = [&first, &residual];
    let (status, said) = prof(&["union", "-o", union.to_str().unwrap()], &files);
    assert_eq!(status, Some(0), "{said}");
    let all: BTreeSet<_> = before.union(&now).cloned().collect();
    assert_eq!(without_counts(&ran(&union)), all);

    // A third run that has nothing new, against the folder that has grown.
    std::fs::copy(&residual, runs.join("2.p3prof")).unwrap();
    let again = build(dir, "again", 13, &["--paths", &spec]);
    assert_eq!(new_paths(&["--new"], &again), BTreeSet::new());
    assert_eq!(
        prof(&["coverage", "--new", "--fail-on-new"], &[&again]).0,
        Some(0)
    );
    let (status, said) = prof(&["coverage", "--new", "--require-new"], &[&again]);
    let expected = "0 new paths, 0 new pairs of edges, 0 new lines; 1 path ran that is known\n\
                    error: no path ran for the first time (--require-new)\n";
    assert_eq!((status, &*said), (Some(1), expected));
    let (status, said) = prof(&["coverage", "--new"], &[&whole]);
    let expected = format!("error: {}: {NOT_BUILT_FOR_NEW}\n", whole.display());
    assert_eq!((status, said), (Some(2), expected));
}

/// Calls and entries of what is counted in part are bounds, and `verify` does not blame copies.
#[test]
fn numbers_of_selections_are_bounds() {
    let dir = crate::support::folder();
    let selected = build(dir.path(), "selected", 12, &["--paths", "ids=classify#0"]);
    let (_, shown) = prof(&["show", "--by", "function"], &[&selected]);
    let expected = "0 paths executed, 0 distinct, in 0 of 1 function with selected paths (sbl, 1 copy)\n\
                    only selected paths are counted (ids=classify#0); whether others ran is not known\n";
    assert_eq!(shown, expected);
    let (status, said) = prof(&["verify"], &[&selected]);
    let expected = "3 functions not checked: not all of their paths are counted\n0 functions checked, 0 violations\n";
    assert_eq!((status, &*said), (Some(0), expected));
    // 12 is above 10 and even.
    let through = build(dir.path(), "through", 12, &["--paths", "through=a.c:4"]);
    let (_, shown) = prof(&["show", "--by", "function"], &[&through]);
    assert_line(&shown, "100.00%     ≥1      1         4  classify  a.c:1");
    let (_, covered) = prof(&["coverage", "--width", "60"], &[&through]);
    let report = covered.lines().filter(|l| !l.starts_with("warning: "));
    let widest = report.map(|l| l.chars().count()).max();
    assert!(widest <= Some(60), "{covered}");
}

#[test]
fn unselected_paths_are_never_called_unexecuted() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let whole = build(dir, "whole", 13, &[]);
    // Line 6 runs for odd numbers; its block lies on half of the paths of classify.
    let some = build(dir, "some", 13, &["--paths", "through=a.c:6"]);
    let of_classify = |p: &&(String, String, u64)| p.0 == "classify";
    let selected: BTreeSet<_> = ran(&whole).iter().filter(of_classify).cloned().collect();
    assert_eq!(ran(&some), selected);

    let shown = json(&["show"], &[&some]);
    assert_eq!(
        shown["program"]["selection"],
        serde_json::json!(["through=a.c:6"])
    );
    let functions = shown["functions"].as_array().unwrap();
    let counted = |name: &str| {
        let f = functions.iter().find(|f| f["name"] == name).unwrap();
        f["counted_paths"].as_str().unwrap().to_string()
    };
    assert_eq!(
        [counted("classify"), counted("parity"), counted("main")],
        ["2", "0", "0"]
    );

    let covered = json(&["coverage"], &[&some]);
    assert_eq!(covered["unselected"], 2);
    let functions = covered["functions"].as_array().unwrap();
    assert_eq!(functions.len(), 1);
    assert_eq!(
        (&functions[0]["executed"], &functions[0]["feasible"]),
        (&1.into(), &"2".into())
    );
    // Lines that paths beside the selected ones may have run are neither covered nor uncovered: these are 3, 4 and 7
    // of classify.
    let lcov = prof(&["export", "--format", "lcov"], &[&some]).1;
    let counts: Vec<&str> = lcov.lines().filter_map(|l| l.strip_prefix("DA:")).collect();
    let expected = ["1,1", "2,1", "3,1", "4,1", "5,1", "6,1", "7,1"];
    assert_eq!(counts, expected, "{lcov}");

    let (status, said) = prof(&["compare"], &[&whole, &some]);
    assert_eq!(status, Some(0), "{said}");
    let rows =
        "main: 1 path not selected in one of them\nparity: 1 path not selected in one of them\n";
    assert!(said.starts_with(rows), "{said}");
    let differing = json(&["diff"], &[&whole, &some]);
    assert_eq!(differing["vanished"], serde_json::json!([]));
    assert_eq!(differing["unselected"], 2);
    let annotate = [
        "annotate",
        "some/src/a.bc",
        "-o",
        "annotated.bc",
        "--profile",
    ];
    let annotate = command(REWRITE, dir)
        .args(annotate)
        .arg(&some)
        .output()
        .unwrap();
    let refused = (annotate.status.code(), stderr(&annotate));
    let simulate = prof(&["simulate"], &[&some]);
    let accuracy = prof(&["accuracy"], &[&some]);
    for (status, said) in [refused, simulate, accuracy] {
        let expected = "error: DIR/some/out/merged.p3prof: it counts only some paths (through=a.c:6); name a profile \
                        of all paths: p3-rewrite without --paths and --patch\n";
        assert_eq!((status, &*in_dir(&said, dir)), (Some(2), expected));
    }
}

#[test]
fn selections_are_listed_and_what_is_not_there_is_refused() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let whole = build(dir, "whole", 13, &[]);
    let listed = json(&["paths", "through=a.c:6"], &[&whole]);
    assert_eq!(listed["paths"], "2");
    let states: BTreeSet<&str> = listed["functions"][0]["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["did-not-run", "ran"].into());
    let new = format!("new:{}", whole.display());
    let listed = json(&["paths", &new], &[&whole]);
    assert_eq!(listed["paths"], "4", "three of classify, one of parity");
    let (status, text) = prof(&["paths", "ids=parity#0,parity#1"], &[&whole]);
    assert_eq!(status, Some(0));
    assert!(
        text.starts_with("2 paths selected, in 1 function\n"),
        "{text}"
    );

    for (spec, said) in [
        (
            "through=a.c:2000",
            "this line has no code; nearest lines with code: 14 (main)",
        ),
        (
            "through=clasify",
            "the program has no function clasify; nearest: classify",
        ),
        ("ids=parity#7", "parity has no path #7; its last is #1"),
        ("patch=", "nothing is named; give patch=DIFF"),
        (
            "through=a.c:",
            "a.c is a source file, and no lines of it are named; give a.c:LINE or a.c:FIRST-LAST",
        ),
        ("hot", "this is no selection; give through=FILE:LINE"),
    ] {
        let (status, text) = prof(&["paths", spec], &[&whole]);
        assert_eq!(status, Some(2));
        assert!(text.contains(&format!("--paths {spec}: {said}")), "{text}");
    }
}

/// A profile of another build is used for the functions that are still the same, and a line names the others.
#[test]
fn all_paths_of_functions_that_changed_count_as_new() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let first = build(dir, "first", 13, &[]);
    let changed = SOURCE.replace(
        "    if (n & 1)\n",
        "    if (n < 0)\n        n = -n;\n    if (n & 1)\n",
    );
    let next = dir.join("next");
    std::fs::create_dir_all(next.join("src")).unwrap();
    let modules = [module(
        "src/a.c",
        &changed,
        &["-O0", "-g", "-DNUMBER=13"],
        &next,
    )];
    let spec = format!("new:{}", first.display());
    let mut rewrite = command(REWRITE, dir);
    rewrite
        .arg(&modules[0])
        .args(["-k", "1", "-o", "said", "--paths", &spec]);
    let said = stderr(&rewrite.output().unwrap());
    let line = "1 function changed; all their paths count as new: parity";
    assert!(said.contains(line), "{said}");
    let options = ["--scheme", "sbl", "--paths", &spec];
    let residual = run_and_profile(&modules, &options, 1, &[], &next);
    let new = new_paths(&["--new"], &residual);
    let names: Vec<&str> = new.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["parity"]);
    let (_, said) = prof(
        &["coverage", &format!("--new={}", first.display())],
        &[&residual],
    );
    assert_line(
        &said,
        "warning: 1 function changed; all their paths count as new",
    );
}

#[test]
fn hottest_paths_of_another_program_are_refused_with_the_reason() {
    let dir = crate::support::folder();
    let whole = build(dir.path(), "whole", 13, &[]);
    let other = dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let modules = [module(
        "b.c",
        "int main(int n) {\n    if (n > 7)\n        return 1;\n    return 0;\n}\n",
        &["-O0"],
        &other,
    )];
    let other = run_and_profile(&modules, &["--scheme", "sbl"], 1, &[], &other);
    for form in ["top=3", "share=90%"] {
        let spec = format!("{form}:{}", other.display());
        let (status, said) = prof(&["paths", &spec], &[&whole]);
        assert_eq!(status, Some(2), "{said}");
        let reason = "1 function changed or gone since; their hottest paths are not selected: main";
        let remedy = "name a profile of this program as it is now";
        let expected = format!("no path is selected: {spec}: {reason}; {remedy}\n");
        assert!(said.ends_with(&expected), "{said}");
    }
}

/// Two programs against an empty folder: all their paths are counted, and all are new.
#[test]
fn new_paths_of_several_programs_are_those_that_their_builds_did_not_know() {
    let dir = crate::support::folder();
    let dir = dir.path();
    std::fs::create_dir(dir.join("runs")).unwrap();
    let source =
        "int main(int c, char **v) {\n    if (c > 1)\n        c = 1;\n    return c - 1;\n}\n";
    for name in ["a.c", "b.c"] {
        std::fs::write(dir.join(name), source).unwrap();
    }
    let makefile = "all: a b\n%: %.c\n\t$(CC) -O0 -g -o $@ $<\n";
    std::fs::write(dir.join("Makefile"), makefile).unwrap();
    let folder = dir.join("p3");
    // The mains have the same control flow, so they are one function.
    build_and_run(dir, "p3", &["--paths", "new:runs"], "./a; ./b");
    assert_eq!(new_paths(&["--new"], &folder).len(), 1);
    build_and_run(dir, "p3", &["--paths", "new:runs"], "./a x; ./b");
    assert_eq!(new_paths(&["--new"], &folder).len(), 1);
    // Both runs of one program: what the first found is known only to the second.
    let files = ["runs/a/0001.p3prof", "runs/a/0002.p3prof"].map(|name| dir.join(name));
    let files: [&Path; 2] = [&files[0], &files[1]];
    let (status, said) = prof(&["coverage", "--new"], &files);
    assert_eq!(status, Some(0), "{said}");
    let head = "2 new paths, 5 new pairs of edges, 3 new lines; 0 paths ran that are known";
    assert_eq!(said.lines().next(), Some(head), "{said}");
    for run in files {
        assert_line(&said, &format!("    reached by runs in {}", run.display()));
    }
    let (status, said) = prof(&["--width", "40", "coverage", "--new"], &files);
    assert_eq!(status, Some(0), "{said}");
    let of_report = said.lines().filter(|l| !l.contains(".p3prof"));
    for line in of_report {
        assert!(line.chars().count() <= 40, "{said}");
    }
    // One that was built otherwise does not say what is known.
    build_and_run(dir, "all", &[], "./a; ./b");
    let (status, said) = prof(&["coverage", "--new"], &[&folder, &dir.join("all")]);
    let file = dir.join("all/a.p3/profile.p3prof");
    let expected = format!("error: {}: {NOT_BUILT_FOR_NEW}\n", file.display());
    assert_eq!((status, said), (Some(2), expected));
}

/// Builds the programs of a folder with these options and runs them; their profiles are kept where they have some.
fn build_and_run(dir: &Path, out: &str, paths: &[&str], script: &str) {
    let start = ["build", "-k", "1", "-o", out];
    let build = [&start, paths, &["--", "make", "-s", "-B"]].concat();
    rewrite(dir, &build);
    let keep: &[&str] = if paths.is_empty() {
        &[]
    } else {
        &["--keep", "runs"]
    };
    let suite = [&["suite", "-o", out], keep, &["--", "sh", "-c", script]].concat();
    rewrite(dir, &suite);
}

/// Only the program that a diff touches is instrumented; its profile joins a folder that the next build compares with.
#[test]
fn build_instruments_what_a_diff_touches_and_keeps_profiles() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let touched =
        "int main(int n, char **v) {\n    if (n > 1)\n        return 0;\n    return v == 0;\n}\n";
    std::fs::write(dir.join("a.c"), touched).unwrap();
    std::fs::write(dir.join("b.c"), "int main(void) { return 0; }\n").unwrap();
    let makefile = "all: a b\n%: %.c\n\t$(CC) -O0 -g -o $@ $<\ncheck: all\n\t./a && ./b\n";
    std::fs::write(dir.join("Makefile"), makefile).unwrap();
    let patch = "--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,4 @@\n int main(int n, char **v) {\n     if (n > 1)\n         return \
                 0;\n+    return v == 0;\n";
    let readme = "--- a/README\n+++ b/README\n@@ -1 +1,2 @@\n One.\n+Two.\n";
    let patch = format!("{patch}{readme}");
    std::fs::write(dir.join("p.diff"), patch).unwrap();
    let build = [
        "build", "-k", "1", "-o", "p3", "--patch", "p.diff", "--", "make", "-s",
    ];
    let said = stderr(&rewrite(dir, &build));
    // The summary is enough for the program that the diff does not touch.
    let expected = "p3: paths are selected in 1 of 2 programs\np3: a: 1 copy\np3: b: 1 copy\n\
                    warning: --patch p.diff: 1 file of the diff is not part of any program: README\n\
                    p3: next: p3-rewrite suite -o p3 -- make check\n";
    assert_eq!(said, expected);
    let suite = [
        "suite", "-o", "p3", "--keep", "runs", "--", "make", "-s", "check",
    ];
    let said = stderr(&rewrite(dir, &suite));
    assert_line(&said, "p3: 1 of 2 programs has no selected path");
    let kept = dir.join("runs/a/0001.p3prof");
    let covered = json(
        &["coverage", "--patch", dir.join("p.diff").to_str().unwrap()],
        &[&kept],
    );
    let main = &covered["functions"][0];
    assert_eq!(
        (&main["executed"], &main["feasible"]),
        (&1.into(), &"1".into())
    );

    // Of all paths the kept run knows one.
    let new = format!("new:{}", dir.join("runs").display());
    std::fs::remove_file(dir.join("a")).unwrap();
    rewrite(
        dir,
        &[
            "build", "-k", "1", "-o", "p3", "--paths", &new, "--", "make", "-s",
        ],
    );
    let next = dir.join("p3/a.p3/manifest.json");
    let manifest = crate::support::json(&next);
    assert_eq!(
        manifest["functions"][0]["known"].as_array().unwrap().len(),
        1
    );
    let nothing = [
        "build",
        "-k",
        "1",
        "-o",
        "p3",
        "--paths",
        "new:nowhere",
        "--",
        "make",
        "-s",
    ];
    let output = command(REWRITE, dir).args(nothing).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("nowhere: there is no such file or folder"),
        "{}",
        stderr(&output)
    );
}
