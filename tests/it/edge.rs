//! The scheme edge against brute force over a log of executed blocks, and against the edges that an exact
//! path profile of the same run adds up to. Where functions are left without an exit, it says so.

use crate::support::{
    PROF, copy_modules, edges, execute, link, original, profile, rewrite, trace, tracer,
};
use std::process::Command;

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
    assert!(message.contains("it counts edges, not paths"), "{message}");
}
