//! What reports say of Rust's code. The module is what rustc 1.95 wrote of `asks.rs` without optimisation, but for the
//! lines of two functions: rustc gives those that it adds to run tests the lines of a test, and line 1.

use crate::export::{export, text};
use crate::support::text::assert_line;
use crate::support::{PROF, folder, module, parsed, project, run, run_and_profile};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("../../testdata/rust/asks.rs");

/// The profile of a run of the module whose source is in `dir`.
pub(crate) fn profile(dir: &Path) -> PathBuf {
    std::fs::write(dir.join("asks.rs"), SOURCE).unwrap();
    let code = std::fs::read_to_string(project("testdata/rust/asks.ll")).unwrap();
    let code = code.replace("\"/p\"", &format!("{dir:?}"));
    let modules = [module("asks.ll", &code, &[], dir)];
    run_and_profile(&modules, &["--scheme", "sbl"], 1, &["-O0"], dir)
}

/// What `p3-prof` prints about a profile.
fn printed(words: &[&str], profile: &Path) -> String {
    text(run(Command::new(PROF).args(words).arg(profile)))
}

/// The decisions on all paths of a function: condition and outcome, with what rows of text leave out.
fn decisions(profile: &Path, function: &str) -> BTreeSet<String> {
    let shown = printed(
        &["show", "--function", function, "--format", "json"],
        profile,
    );
    let shown: Value = parsed(shown.as_bytes());
    let paths = shown["functions"][0]["paths"].as_array().unwrap();
    let decisions = paths
        .iter()
        .flat_map(|p| p["decisions"].as_array().unwrap());
    let said = decisions.map(|d| {
        let word = |key: &str| d[key].as_str().unwrap_or("?");
        format!("{} {}", word("condition"), word("outcome"))
    });
    said.collect()
}

#[track_caller]
fn assert_decisions(profile: &Path, function: &str, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|d| d.to_string()).collect();
    assert_eq!(decisions(profile, function), expected);
}

#[test]
fn question_mark_returns_early_or_goes_on() {
    let dir = folder();
    let profile = profile(dir.path());
    let expected = [
        "half(n)? goes on",
        "half(once)? goes on",
        "half(once)? returns early",
    ];
    assert_decisions(&profile, "quarter", &expected);
    let missing = printed(
        &["coverage", "--annotate=missing", "--function", "quarter"],
        &profile,
    );
    assert_line(&missing, "              ↳ never returns early: half(n)?");
    assert_eq!(missing.matches('↳').count(), 1, "{missing}");
}

/// Arms with braces in their patterns, several arms behind one edge of the `switch`, and a flag by which rustc finds
/// out whether a value was moved.
#[test]
fn arms_are_told_and_flags_of_drops_are_no_decisions() {
    let dir = folder();
    let profile = profile(dir.path());
    let expected = [
        "? generated",
        "Kind::Sized(n) = kind false",
        "Kind::Sized(n) = kind true",
        "*n > 2 false",
        "*n > 2 true",
        "*n > 3 false",
        "*n > 3 true",
        "kind case Kind::Named { size }",
        "kind case Kind::Plain",
        "kind case Kind::Sized(n) | Kind::Sized(_)",
    ];
    assert_decisions(&profile, "keep", &expected);
}

/// The `!` of a macro's name negates nothing, and a check of overflow that held is folded.
#[test]
fn arguments_of_macros_are_quoted_without_the_macro() {
    let dir = folder();
    let profile = profile(dir.path());
    let shown = printed(&["show", "--function", "checked"], &profile);
    let words: Vec<&str> = shown.split_whitespace().collect();
    let words = words.join(" ");
    let rows = "45 a != 3 true 46 b < 1000 true ⋯ 1 step in checks of overflow and bounds";
    assert!(words.contains(rows), "{shown}");
}

/// rustc asks by `select` which variant of an `enum` a value is, also without optimisation.
#[test]
fn code_without_optimisation_has_no_conditions_that_became_values() {
    let dir = folder();
    let profile = profile(dir.path());
    let shown = printed(&["show", "--function", "main"], &profile);
    // Where a condition became a value, a note below the head says so.
    let head: Vec<&str> = shown.lines().take_while(|l| !l.is_empty()).collect();
    assert_eq!(head.len(), 2, "{shown}");
    assert!(
        head[0].contains(" paths executed, ") && head[1].contains("% of the program's "),
        "{shown}"
    );
}

#[test]
fn code_that_runs_tests_is_none_of_the_source() {
    let dir = folder();
    let profile = profile(dir.path());
    let trace = std::fs::read_to_string(export(&profile, "lcov", &[])).unwrap();
    let records = trace.lines().filter_map(|l| l.strip_prefix("DA:"));
    let lines: BTreeMap<u32, &str> = records
        .filter_map(|l| l.split_once(','))
        .map(|(line, count)| (line.parse().unwrap(), count))
        .collect();
    let test = SOURCE.lines().position(|l| l == "fn tests() {").unwrap() as u32 + 1;
    assert_eq!((lines.get(&test), lines.get(&1)), (Some(&"1"), None));
    assert!(!trace.contains("by_closure") && !trace.contains("runs_tests"));
    let coverage = printed(&["coverage", "--format", "json"], &profile);
    assert!(!coverage.contains("by_closure") && !coverage.contains("runs_tests"));
    let all = printed(&["coverage", "--format", "json", "--all"], &profile);
    assert!(all.contains("by_closure") && all.contains("runs_tests"));
}
