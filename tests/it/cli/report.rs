//! What commands of `p3-prof` print of one profile, and `p3-rewrite --profile` of it.

use super::{profiled, transcript};
use crate::support::{PROF, execute, profile, project, rewrite};
use std::process::Command;

#[test]
fn reports() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (merged, _) = profiled(dir);
    let commands: &[&[&str]] = &[
        &["show", "--top", "6"],
        &["show", "--function", "^gcd$"],
        &["show", "--format", "csv", "--top", "4"],
        &["show", "--format", "json", "--function", "^find$"],
        &["show", "--edges", "--function", "^gcd$"],
        &["show", "--edges", "--format", "json", "--function", "^gcd$"],
        &["show", "--edges", "--format", "csv", "--function", "^gcd$"],
        &["simulate", "-k", "2,4"],
        &["simulate", "-k", "3", "--format", "json"],
        &["verify"],
        &["accuracy", "--top", "3"],
        &["coverage", "--top", "4"],
        &["coverage", "--function", "^(find|nest)$"],
        &["coverage", "--function", "^find$", "--format", "json"],
        &["coverage", "--format", "csv"],
        &["coverage", "--sort", "name", "--top", "2"],
        &[
            "coverage",
            "--fail-under",
            "95",
            "--measure",
            "pairs",
            "--top",
            "1",
        ],
        &["coverage", "--fail-under", "1", "--format", "markdown"],
        &["coverage", "--format", "github", "--function", "^find$"],
        &["coverage", "--file", "loops.c", "--exclude", "loops"],
        &["coverage", "--file", "nowhere.c"],
        &["export", "--format", "folded", "--function", "^gcd$"],
        &["export", "--format", "lcov", "--function", "^gcd$"],
        &["export", "--format", "dot", "--function", "^gcd$"],
        &["export", "--format", "callgrind"],
        &["export", "--format", "speedscope", "--function", "^gcd$"],
        &["show", "--color", "always", "--top", "1"],
    ];
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(project("snapshots/report"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"p3-prof \d+\.\d+\.\d+", "p3-prof X");
    let mut all = String::new();
    for arguments in commands {
        let text = transcript(Command::new(PROF).args(*arguments).arg(&merged), dir);
        all += &format!("$ p3-prof {}\n{text}", arguments.join(" "));
    }
    settings.bind(|| insta::assert_snapshot!("loops", all));
}

/// Placing probes by a measured profile changes their cost, not the counts.
#[test]
fn measured_weights_keep_the_counts() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (merged, _) = profiled(dir);
    let modules = [dir.join("input/loops.bc")];
    let expected = execute(&dir.join("native.exe"), &dir.join("native"));
    let options = ["--scheme", "sbl", "--profile", merged.to_str().unwrap()];
    let again = profile(
        &modules,
        &options,
        1,
        &["-O1"],
        &expected,
        &dir.join("again"),
    );
    crate::support::run(Command::new(PROF).arg("compare").arg(&merged).arg(&again));
    let plan = |options: &[&str], out: &str| {
        rewrite(
            &modules,
            &[options, &["--dump", "plan"]].concat(),
            &dir.join(out),
        );
        std::fs::read_to_string(dir.join(out).join("dump/copy-0.plan.txt")).unwrap()
    };
    assert_ne!(
        plan(&options, "measured"),
        plan(&["--scheme", "sbl"], "static")
    );
}
