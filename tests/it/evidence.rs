//! What readers say of profiles that do not count every path: that a path ran n times, at least n times, not at all, or
//! that nothing is known of it; and what took a new path.

use crate::build::{folder, rewrite};
use crate::paths::{json, prof};
use crate::support::text::{assert_line, in_dir};
use crate::support::{module, run_and_profile};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// `classify` has eight paths, of which two run with numbers below 5.
const SOURCE: &str = "int classify(int n) {
    int r = 0;
    if (n > 10)
        r += 1;
    if (n % 2)
        r += 2;
    if (n == 7)
        r += 4;
    return r;
}
int main(void) {
    int sum = 0;
    for (int i = 0; i < TIMES; i++)
        sum += classify(i % NUMBERS);
    return sum < 0;
}
";

/// The profile of so many calls with numbers below `numbers`.
fn build(dir: &Path, name: &str, times: u32, numbers: u32, options: &[&str]) -> PathBuf {
    let dir = dir.join(name);
    let defines = [format!("-DTIMES={times}"), format!("-DNUMBERS={numbers}")];
    let flags = ["-O0", "-g", &defines[0], &defines[1]];
    let modules = [module("a.c", SOURCE, &flags, &dir)];
    let options = [&["--scheme", "p3-hot"], options].concat();
    run_and_profile(&modules, &options, 1, &[], &dir)
}

/// A whole run of few paths, a run against it of more, and their union.
struct Runs {
    dir: tempfile::TempDir,
    first: PathBuf,
    residual: PathBuf,
    union: PathBuf,
}

impl Runs {
    fn new() -> Runs {
        let dir = crate::support::folder();
        let first = build(dir.path(), "first", 3000, 5, &[]);
        let spec = format!("new:{}", first.display());
        let residual = build(dir.path(), "residual", 3000, 20, &["--paths", &spec]);
        let union = union_of(dir.path(), "union", &[&first, &residual]);
        Runs {
            dir,
            first,
            residual,
            union,
        }
    }
}

fn union_of(dir: &Path, name: &str, files: &[&Path]) -> PathBuf {
    let union = dir.join(name).with_extension("p3prof");
    let words = ["union", "-o", union.to_str().unwrap()];
    let (status, said) = prof(&words, files);
    assert_eq!(status, Some(0), "{said}");
    union
}

fn function<'a>(shown: &'a Value, name: &str) -> &'a Value {
    let functions = shown["functions"].as_array().unwrap();
    functions.iter().find(|f| f["name"] == name).unwrap()
}

#[test]
fn paths_are_marked_by_what_is_known_of_them() {
    let runs = Runs::new();
    let shown = json(&["show"], &[&runs.residual]);
    let again = &function(&shown, "classify")["known_paths"];
    assert_eq!(
        *again,
        json!({"ran": 0, "did_not_run": 0, "not_selected": 2})
    );
    // Its paths are few and cost little, so they are counted again.
    let main = &function(&shown, "main");
    let again = main["known_paths"]["ran"].as_u64().unwrap();
    let known = main["paths"].as_array().unwrap().iter();
    assert_eq!(
        known.filter(|p| p["known"] == true).count() as u64,
        again,
        "{main}"
    );
    let (_, text) = prof(&["show", "--width", "200"], &[&runs.residual]);
    let head = text.split("\n\n").next().unwrap();
    let head = head.replace(runs.first.to_str().unwrap(), "FIRST");
    let expected = "1,500 paths executed, 3 distinct, in 1 of 2 functions (p3-hot, 1 copy)\n\
                    5 paths known (new:FIRST): 0 ran again, 0 did not run, and whether the 5 that are not selected ran \
                    is not known";
    assert_eq!(head, expected, "{text}");

    let (_, text) = prof(&["show"], &[&runs.union]);
    let bounded = text.lines().filter_map(|l| l.split_once("≥ "));
    let bounded: Vec<&str> = bounded
        .filter_map(|(_, l)| Some(l.split_once(" × ")?.0.trim()))
        .collect();
    let expected = ["2,999", "1,800", "1,200", "1", "1"];
    assert_eq!(bounded, expected, "{text}");
    let (_, csv) = prof(&["show", "--format", "csv"], &[&runs.union]);
    assert!(csv.lines().any(|l| l.ends_with(",state,known")), "{csv}");
    let of_classify = csv.lines().filter(|l| l.starts_with("a.bc,classify,"));
    let states: Vec<&str> = of_classify.map(|l| l.rsplit(',').nth(1).unwrap()).collect();
    let least = states.iter().filter(|s| **s == "ran-at-least").count();
    let exact = states.iter().filter(|s| **s == "ran").count();
    assert_eq!((least, exact), (2, 3), "{csv}");
}

#[test]
fn least_counts_are_compared_as_bounds() {
    let runs = Runs::new();
    let dir = runs.dir.path();
    let second = build(dir, "second", 3000, 20, &[]);
    let whole = union_of(dir, "whole", &[&runs.first, &second]);
    let (status, said) = prof(&["compare"], &[&runs.union, &whole]);
    assert_eq!(status, Some(0), "{said}");
    let rows = "classify: 2 paths differ within bounds: not every run counted them\n\
                main: 3 paths differ within bounds: not every run counted them\n";
    assert!(said.starts_with(rows), "{said}");
    let fewer = build(dir, "fewer", 1000, 20, &[]);
    for files in [[&runs.union, &fewer], [&fewer, &runs.union]] {
        let (status, said) = prof(&["compare"], &files.map(PathBuf::as_path));
        assert_eq!(status, Some(1), "{said}");
        let bound = said.lines().filter(|l| l.starts_with("classify, path"));
        assert_eq!(bound.filter(|l| l.contains("≥ 1")).count(), 2, "{said}");
    }
    // Shares of what is not known are not compared, either.
    let differing = json(&["diff"], &[&whole, &runs.union]);
    assert!(differing["bounded"].as_u64().unwrap() >= 2, "{differing}");
    assert_eq!(differing["vanished"], json!([]));
}

#[test]
fn exports_never_say_that_unselected_code_did_not_run() {
    let runs = Runs::new();
    let through = build(
        runs.dir.path(),
        "through",
        3000,
        20,
        &["--paths", "through=a.c:8"],
    );
    let export = |format: &str, file: &Path| {
        let (status, text) = prof(&["export", "--format", format], &[file]);
        assert_eq!(status, Some(0), "{format}: {text}");
        text
    };
    for file in [&through, &runs.residual] {
        let callgrind = export("callgrind", file);
        assert!(!callgrind.contains("calls="), "{callgrind}");
        for format in [
            "lcov",
            "lcov-1",
            "cobertura",
            "folded",
            "speedscope",
            "csv",
            "json",
        ] {
            export(format, file);
        }
        // Line 1 has the entry, and lines 4 and 6 run on unselected paths too.
        let covered = json(&["coverage"], &[file]);
        let (_, text) = prof(&["coverage", "--function", "classify"], &[file]);
        let row = text.lines().find(|l| l.contains("  classify  "));
        assert!(row.unwrap().ends_with("  classify  a.c"), "{text}{covered}");
    }
    // No number is above 10 and 7.
    let dot = export("dot", &through);
    let block = r#"    1 [ shape=box label="b1 a.c:4\nnot selected" style=dotted color=gray fontcolor=gray]"#;
    assert_line(&dot, block);
    let (_, edges) = prof(&["show", "--edges"], &[&through]);
    assert_line(&edges, "classify  a.c:1: entered 150?");
    let (status, said) = prof(&["export", "--format", "proftext"], &[&through]);
    assert_eq!(status, Some(2));
    assert!(said.lines().last().unwrap().contains("; "), "{said}");
    let page = runs.dir.path().join("page");
    let (status, said) = prof(&["html", "-o", page.to_str().unwrap()], &[&through]);
    assert_eq!(status, Some(0), "{said}");
    let words = [
        "html",
        "-o",
        page.to_str().unwrap(),
        "--baseline",
        runs.first.to_str().unwrap(),
    ];
    let (status, said) = prof(&words, &[&through]);
    let expected = "error: DIR/through/out/merged.p3prof: it counts only some paths (through=a.c:8), so shares cannot \
                    be compared; leave out --baseline; p3-prof diff compares the paths that both counted\n";
    let said = in_dir(&said, runs.dir.path());
    assert_eq!((status, &*said), (Some(2), expected));
}

/// Both runs counted all paths: the first against a folder that nobody has made, the second against the first.
#[test]
fn stored_union_of_residual_runs_says_what_was_known_before_the_first() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let missing = format!("new:{}/", dir.join("missing").display());
    let first = build(dir, "first", 3, 2, &["--paths", &missing]);
    let (_, shown) = prof(&["show"], &[&first]);
    let head = "7 paths executed, 5 distinct, in 2 of 2 functions, all exact (p3-hot, 1 copy)";
    assert_eq!(shown.lines().next(), Some(head), "{shown}");
    let spec = format!("new:{}", first.display());
    let second = build(dir, "second", 3, 3, &["--paths", &spec]);
    let union = union_of(dir, "union", &[&first, &second]);
    let number = |words: &[&str], file: &Path| {
        let found = json(&[&["coverage"], words].concat(), &[file]);
        found["new"].as_array().unwrap().len()
    };
    let all = number(&["--new"], &union);
    assert!(all > number(&["--new"], &second));
    let empty = format!("--new={}/", dir.join("missing").display());
    assert_eq!(number(&[&empty], &union), all);
    // A name without a slash is more likely to be wrong.
    let wrong = format!("--new={}", dir.join("missing").display());
    let (status, said) = prof(&["coverage", &wrong], &[&union]);
    let expected = "error: DIR/missing: there is no such file or folder; check its name; a folder that is still to be \
                    made ends with /\n";
    assert_eq!((status, &*in_dir(&said, dir)), (Some(2), expected));
    // A whole run does not say what it knew.
    let whole = build(dir, "whole", 3, 2, &[]);
    let mixed = union_of(dir, "mixed", &[&whole, &second]);
    assert_eq!(prof(&["coverage", "--new"], &[&mixed]).0, Some(2));
}

/// Each new path with the test and the arguments of its processes: tests have files of their own, and so need not be
/// run apart.
#[test]
fn new_paths_are_told_by_test_and_arguments() {
    let source = "#include <string.h>
int main(int n, char **v) {
    if (n > 1 && strcmp(v[1], \"one\") == 0)
        return 0;
    if (n > 2)
        return 0;
    return 0;
}
";
    let dir = folder(&[("prog.c", source)]);
    let dir = dir.path();
    let compile = ["sh", "-c", "$CC -O0 -g prog.c -o prog"];
    let build = ["build", "-k", "2", "-o", "p3", "--paths", "new:runs/", "--"];
    rewrite(dir, &[&build[..], &compile].concat());
    let script =
        "P3_TEST=first ./prog one; P3_TEST='b/2 x' ./prog; P3_TEST='b/2 x' ./prog three 3; ./prog";
    let suite = [
        "suite", "-o", "p3", "--keep", "runs/", "--", "sh", "-c", script,
    ];
    rewrite(dir, &suite);
    let p3 = dir.join("p3");
    let found = json(&["coverage", "--new"], &[&p3]);
    let runs = |lines: &[u32]| {
        let has = |p: &&Value| {
            let of = p["new_lines"].as_array().unwrap().iter();
            let of: Vec<u64> = of.map(|l| l[1].as_u64().unwrap()).collect();
            lines.iter().all(|l| of.contains(&u64::from(*l)))
        };
        let paths = found["new"].as_array().unwrap();
        let all: Vec<&Value> = paths.iter().filter(has).map(|p| &p["runs"]).collect();
        assert_eq!(all.len(), 1, "{lines:?} {found}");
        all[0].clone()
    };
    assert_eq!(
        runs(&[4]),
        json!([{"test": "first", "arguments": ["one"]}]),
        "{found}"
    );
    assert_eq!(
        runs(&[6]),
        json!([{"test": "b/2 x", "arguments": ["", "three 3"]}])
    );
    assert_eq!(
        runs(&[7]),
        json!([{"arguments": [""]}, {"test": "b/2 x", "arguments": ["", "three 3"]}])
    );
    let (_, text) = prof(&["coverage", "--new", "--width", "200"], &[&p3]);
    let reached = text
        .lines()
        .filter_map(|l| l.strip_prefix("    reached by "));
    let expected = [
        "a run without arguments; test b/2 x (with one of: no arguments | three 3)",
        "test first (with one)",
        "test b/2 x (with one of: no arguments | three 3)",
    ];
    assert_eq!(reached.collect::<Vec<_>>(), expected, "{text}");
    let (_, table) = prof(&["coverage", "--new", "--format", "markdown"], &[&p3]);
    let row = "| main | #0 | 1 | 4 | lines 3-4, 8 of prog.c | test first (with one) |";
    assert_line(&table, row);
    // The next build knows these paths.
    let again = ["build", "-k", "2", "-o", "p3", "--paths", "new:runs/", "--"];
    rewrite(dir, &[&again[..], &compile].concat());
    rewrite(dir, &["suite", "-o", "p3", "--", "./prog", "four"]);
    let found = json(&["coverage", "--new"], &[&p3]);
    let new = found["new"].as_array().unwrap();
    assert_eq!(new.len(), 1, "n = 2 and no \"one\": {found}");
    assert_eq!(new[0]["runs"], json!([{"arguments": ["four"]}]));
}
