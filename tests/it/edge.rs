//! The scheme edge against brute force over a log of executed blocks, and against the edges that an exact
//! path profile of the same run adds up to. Where functions are left without an exit, it says so.

use crate::paths::prof;
use crate::support::text::{assert_line, in_dir};
use crate::support::{
    PROF, copy_modules, edges, execute, link, module, original, profile, rewrite, run_and_profile,
    trace, tracer,
};
use std::process::Command;

/// What reports of paths say of a profile of edges.
const EDGES_ALONE: &str =
    "it counts edges, not paths; use show --edges or export --format lcov, or profile paths";

/// Checks all functions whose counts are said to be certain against executed blocks; how many are not.
fn check(name: &str, flags: &[&str]) -> usize {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (modules, expected) = original(name, flags, &["-O1"], dir);
    let traced = dir.join("trace");
    rewrite(&modules, &["--scheme", "trace"], &traced);
    let exe = dir.join("trace.exe");
    link(
        &copy_modules(&modules, &traced, 0),
        tracer(),
        &["-O1"],
        &exe,
    );
    execute(&exe, &traced);
    let oracle = trace::transitions(&traced.join("manifest.json"), &traced.join("trace"));

    let run = |options: &[&str], k, to: &str| {
        profile(&modules, options, k, &["-O1"], &expected, &dir.join(to))
    };
    let first = run(&["--scheme", "edge"], 1, "1");
    let weighted = ["--scheme", "edge", "--profile", first.to_str().unwrap()];
    let profiles = [
        run(&["--scheme", "edge", "--counters", "call"], 3, "3"),
        run(&weighted, 2, "weighted"),
        first,
    ];
    let mut uncertain = 0;
    for profile in &profiles {
        uncertain += edges::compare(profile, &oracle).unwrap();
        edges::within_bounds(profile, &oracle).unwrap();
    }
    for (scheme, copies) in [("sbl", 1), ("p3", 2)] {
        let paths = run(&["--scheme", scheme], copies, scheme);
        let mut compare = Command::new(PROF);
        let said = crate::support::run(compare.arg("compare").args([&profiles[0], &paths]));
        let said = String::from_utf8(said.stdout).unwrap();
        let certain = uncertain == 0 && name != "longjmp";
        assert!(said.is_empty() || !certain, "{said}");
        assert!(
            said.lines().all(|l| l.contains(" within bounds: ")),
            "{said}"
        );
        edges::within_bounds(&paths, &oracle).unwrap();
    }
    uncertain
}

macro_rules! certain {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            for flags in [&["-O0", "-Xclang", "-disable-O0-optnone"][..], &["-O2"]] {
                assert_eq!(check(stringify!($name), flags), 0);
            }
        })*
    };
}

certain! { loops many_paths switches computed_goto irreducible recursion callbacks asm_goto demo }

#[test]
fn left_by_exceptions_and_exit() {
    let uncertain = |name| check(name, &["-O0", "-Xclang", "-disable-O0-optnone"]);
    assert!(uncertain("exceptions") > 0);
    assert!(uncertain("exits") > 0);
}

/// Functions that `longjmp` returns to have all their edges counted.
#[test]
fn returns_twice() {
    for flags in [&["-O0", "-Xclang", "-disable-O0-optnone"][..], &["-O2"]] {
        check("longjmp", flags);
    }
}

#[test]
fn paths_are_not_shown() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (modules, expected) = original("loops", &["-O1"], &["-O1"], dir);
    let counted = profile(
        &modules,
        &["--scheme", "edge"],
        1,
        &["-O1"],
        &expected,
        &dir.join("edge"),
    );
    let shown = Command::new(PROF)
        .arg("show")
        .arg(&counted)
        .output()
        .unwrap();
    assert_eq!(shown.status.code(), Some(2));
    let message = String::from_utf8(shown.stderr).unwrap();
    let expected = format!("error: {}: {EDGES_ALONE}\n", counted.display());
    assert_eq!(message, expected);
}

/// A cold function before a hot one, and a cold block before a hot loop.
const COLD_FIRST: &str = "int cold(int n) {
    if (n > 5)
        return 1;
    return n;
}
int hot(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i & 3;
    return sum;
}
int main(void) { return cold(hot(1000)) != 1; }
";

/// The functions with most instructions come first, and of each the blocks that ran most often, with their lines.
#[test]
fn edges_are_listed_with_lines_hottest_first() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = [module("a.c", COLD_FIRST, &["-O0", "-g"], dir)];
    let options = ["--scheme", "edge"];
    let profile = run_and_profile(&modules, &options, 1, &[], dir);
    let (_, shown) = prof(&["show", "--edges"], &[&profile]);
    let heads = shown.lines().filter(|l| !l.starts_with(' '));
    let expected = [
        "hot  a.c:6: entered 1",
        "cold  a.c:1: entered 1",
        "main  a.c:12: entered 1",
    ];
    assert_eq!(heads.collect::<Vec<_>>(), expected);
    let block = |l: &&str| l.starts_with("  b");
    let blocks: Vec<&str> = shown.lines().filter(block).take(5).collect();
    let expected = [
        "  b1 a.c:8: 1,001",
        "  b2 a.c:9: 1,000",
        "  b3 a.c:8: 1,000",
        "  b0 a.c:7: 1",
        "  b4 a.c:10: 1",
    ];
    assert_eq!(blocks, expected);
    assert_line(&shown, "    → b4 a.c:10 (false): 1");
    let (_, csv) = prof(&["show", "--edges", "--format", "csv"], &[&profile]);
    let record = |l: &&str| l.starts_with("a.bc,hot,1,0,2,1000,,,");
    let record = csv.lines().find(record).expect("the loop goes on");
    let file = dir.join("a.c");
    let file = file.display();
    assert!(
        record.ends_with(&format!(",,{file},8,{file},9")),
        "{record}"
    );
    let (status, said) = prof(&["show"], &[&profile]);
    let expected = format!("error: DIR/out/merged.p3prof: {EDGES_ALONE}\n");
    assert_eq!((status, in_dir(&said, dir)), (Some(2), expected));
}
