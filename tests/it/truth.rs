//! What paths say was true, against the counts of clang's own source coverage.

use crate::conditions::region;
use crate::export::{profiled, read, text};
use crate::support::{PROF, folder, llvm, project, run, sources};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// A region of a condition: from line and column to line and column.
pub(crate) type Region = [usize; 4];

/// How often each condition of `source` was true and false, as clang counts it. Its own file alone is looked at: what
/// macros contain has regions of its own.
pub(crate) fn counted(source: &Path, dir: &Path) -> HashMap<Region, [u64; 2]> {
    let (exe, raw) = (dir.join("counted"), dir.join("counted.profraw"));
    let is_cpp = source.extension().is_some_and(|e| e == "cpp");
    let mut clang = Command::new(llvm(if is_cpp { "clang++" } else { "clang" }));
    clang.args([
        "-O1",
        "-w",
        "-fprofile-instr-generate",
        "-fcoverage-mapping",
    ]);
    if is_cpp {
        clang.arg("-std=c++20");
    }
    clang.arg("-I").arg(project("testdata/include")).arg(source);
    run(clang.args(["-o"]).arg(&exe).args(["-lm", "-pthread"]));
    let mut program = Command::new(&exe);
    program.current_dir(dir).env("LLVM_PROFILE_FILE", &raw);
    program.output().unwrap();
    let data = dir.join("counted.profdata");
    let mut merge = Command::new(llvm("llvm-profdata"));
    run(merge.arg("merge").arg(&raw).arg("-o").arg(&data));
    let mut cov = Command::new(llvm("llvm-cov"));
    cov.args(["export", "-instr-profile"]).arg(&data).arg(&exe);
    let found: Value = serde_json::from_str(&text(run(&mut cov))).unwrap();
    let functions = found["data"][0]["functions"].as_array().unwrap().iter();
    let mut counts: HashMap<Region, [u64; 2]> = HashMap::new();
    let own = functions.filter(|f| f["filenames"][0] == source.to_str().unwrap());
    for branch in own.flat_map(|f| f["branches"].as_array().unwrap()) {
        let number = |i: usize| branch[i].as_u64().unwrap();
        if number(6) == number(7) {
            let region = [0, 1, 2, 3].map(|i| number(i) as usize);
            let sum = counts.entry(region).or_default();
            *sum = [sum[0] + number(4), sum[1] + number(5)];
        }
    }
    counts
}

/// By condition, where it begins and its text: on how many executions of paths it was true, false, and undecided. What
/// is implied has an outcome of its own, and so is in none of these sums.
fn told(profile: &Path, source: &Path) -> HashMap<([usize; 2], String), [u64; 3]> {
    let mut show = Command::new(PROF);
    let shown = text(run(show
        .arg("show")
        .arg(profile)
        .args(["--format", "json"])));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let functions = shown["functions"].as_array().unwrap().iter();
    let mut told: HashMap<([usize; 2], String), [u64; 3]> = HashMap::new();
    for path in functions.flat_map(|f| f["paths"].as_array().unwrap()) {
        for decision in path["decisions"].as_array().unwrap() {
            let here = decision["file"] == source.to_str().unwrap();
            let outcome = ["true", "false", "unknown"];
            let outcome = outcome.iter().position(|o| decision["outcome"] == *o);
            let (true, Some(outcome), Some(at)) =
                (here, outcome, decision["condition_at"].as_array())
            else {
                continue;
            };
            let at = [0, 1].map(|i| at[i].as_u64().unwrap() as usize);
            let text = decision["condition"].as_str().unwrap().to_string();
            told.entry((at, text)).or_default()[outcome] += path["count"].as_u64().unwrap();
        }
    }
    told
}

/// Without blanks, and without brackets around all of it.
pub(crate) fn bare(text: &str) -> String {
    let text: String = text.split_whitespace().collect();
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let mut depth = 0;
    let whole = inner.is_some_and(|inner| {
        inner.chars().all(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth >= 0
        })
    });
    match inner {
        Some(inner) if whole => bare(inner),
        _ => text,
    }
}

/// Every condition of which each execution has an outcome is true and false as often as clang counts; no other one is
/// more often true, or false, than clang counts (an optimiser may leave executions without a branch).
#[test]
fn outcomes_of_conditions_equal_counts_of_source_coverage() {
    let (mut equal, mut undecided, mut wrong) = ([0, 0], [0, 0], Vec::new());
    for name in [
        "conditions",
        "loops",
        "switches",
        "exceptions",
        "demo",
        "iterations",
        "recursion",
        "words",
        "scan",
        "shapes",
        "joined_loops",
        "values",
        "operands",
    ] {
        let source = sources(name).remove(0);
        let content = read(&source);
        for (level, optimised) in [("-O0", 0), ("-O1", 1), ("-O2", 1)] {
            let dir = folder();
            let profile = profiled(name, &[level, "-g"], dir.path());
            let counted = counted(&source, dir.path());
            for ((at, condition), [yes, no, unknown]) in told(&profile, &source) {
                let around = |r: &&Region| [r[0], r[1]] <= at && at <= [r[2], r[3]];
                let same = |r: &&Region| bare(&region(&content, **r)) == bare(&condition);
                let Some(found) = counted.keys().find(|r| around(r) && same(r)) else {
                    continue; // a macro, or several conditions at once
                };
                let [all_yes, all_no] = counted[found];
                let complete = yes + no == all_yes + all_no;
                let right = if complete {
                    [yes, no] == [all_yes, all_no]
                } else {
                    yes <= all_yes && no <= all_no
                };
                if !right {
                    wrong.push(format!(
                        "{name} {level} {at:?} {condition}: {yes}, {no}; clang counts {all_yes}, {all_no}"
                    ));
                }
                equal[optimised] += usize::from(complete && right);
                undecided[optimised] += usize::from(unknown > 0);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        equal[0] > 80 && undecided[0] * 10 < equal[0],
        "{equal:?} {undecided:?}"
    );
    assert!(
        equal[1] > 40 && undecided[1] < equal[1],
        "{equal:?} {undecided:?}"
    );
}

/// An optimiser drops a part that is always true, and joins the other with the condition of the next statement.
#[test]
fn join_with_another_condition_has_no_outcome_of_the_first() {
    let source = sources("operands").remove(0);
    for level in ["-O1", "-O2"] {
        let dir = folder();
        let profile = profiled("operands", &[level, "-g"], dir.path());
        let told = told(&profile, &source).into_iter();
        let mut joins = told.filter(|((_, text), _)| text == "h <= s && c");
        assert!(joins.all(|(_, [yes, no, _])| (yes, no) == (0, 0)));
    }
}

/// Six paths of one function differ in nothing but what was true.
#[test]
fn paths_through_the_same_lines_are_told_apart_by_outcomes() {
    let dir = folder();
    let profile = profiled("outcomes", &["-O0", "-g"], dir.path());
    let mut show = Command::new(PROF);
    show.arg("show")
        .arg(&profile)
        .args(["--function", "^f$", "--by", "path"]);
    let shown = text(run(&mut show));
    let mut told: Vec<Vec<&str>> = Vec::new();
    for line in shown.lines() {
        match line.split_whitespace().last() {
            Some(id) if id.starts_with('#') => told.push(Vec::new()),
            _ => {
                let steps = told.last_mut();
                let outcome = line
                    .split("  ")
                    .map(str::trim)
                    .find(|c| ["true", "false"].contains(c));
                steps.into_iter().for_each(|s| s.extend(outcome));
            }
        }
    }
    let mut distinct = told.clone();
    distinct.sort();
    distinct.dedup();
    assert!(told.len() == 6 && distinct.len() == 6, "{shown}");
    assert!(shown.contains("!(a == b)"), "{shown}");
}

/// At -O0 the branch of a loop over joined conditions tests a φ. What an earlier condition decides is no outcome of the
/// last one, and a path on which the φ has another value than where it came from says cannot run.
#[test]
fn outcomes_that_a_joined_condition_never_had_are_missing() {
    let dir = folder();
    let profile = profiled("joined_loops", &["-O0", "-g"], dir.path());
    let coverage = |options: &[&str]| {
        let mut command = Command::new(PROF);
        command.arg("coverage").arg(&profile).args(options);
        text(run(&mut command))
    };
    let annotated = coverage(&["--annotate=missing"]);
    let missing: Vec<&str> = annotated
        .lines()
        .filter_map(|l| l.trim().strip_prefix("↳ "))
        .collect();
    let expected = [
        "never false: s[i] == ' '",
        "never true: b > 3",
        "never false: b < 9",
        "never false: found < 100",
    ];
    assert_eq!(missing, expected, "{annotated}");
    // None of the paths that are shown as missing has two outcomes that exclude each other.
    let shown = coverage(&["--function", "^skip$", "--nearest", "9"]);
    let ends = shown.split("not covered").skip(1);
    for path in ends {
        let leaves = path.contains("i < n") && path.contains("false  leaves");
        assert!(!(leaves && path.contains("next iteration")), "{shown}");
    }
}

/// An assertion that held is true, on the way that does not fail; what of its parts is asked first says nothing yet.
/// Nobody is asked for a test in which it fails.
#[test]
fn assertion_that_held_is_true_and_its_failure_is_not_asked_for() {
    for level in ["-O0", "-O1", "-O2"] {
        let dir = folder();
        let profile = profiled("assertions", &[level, "-g"], dir.path());
        let mut command = Command::new(PROF);
        command
            .arg("coverage")
            .arg(&profile)
            .args(["--nearest", "99"]);
        let coverage = text(run(command.args(["--format", "json"])));
        let coverage: Value = serde_json::from_str(&coverage).unwrap();
        let mut command = Command::new(PROF);
        command.arg("show").arg(&profile).args(["--format", "json"]);
        let shown: Value = serde_json::from_str(&text(run(&mut command))).unwrap();
        let outcomes = |report: &Value, paths: &str| -> HashMap<(String, String), usize> {
            let functions = report["functions"].as_array().unwrap().iter();
            let paths = functions.flat_map(|f| f[paths].as_array().unwrap());
            let decisions = paths.flat_map(|p| p["decisions"].as_array().unwrap());
            let mut found = HashMap::new();
            for d in decisions {
                let words = d["condition"].as_str().unwrap_or_default();
                if words.starts_with("assert") {
                    let outcome = d["outcome"].as_str().unwrap();
                    *found.entry((words.into(), outcome.into())).or_default() += 1;
                }
            }
            found
        };
        let (ran, missing) = (outcomes(&shown, "paths"), outcomes(&coverage, "uncovered"));
        let of = |found: &HashMap<(String, String), usize>, words: &str, outcome: &str| {
            let key = (words.to_string(), outcome.to_string());
            found.get(&key).copied().unwrap_or(0)
        };
        for words in [
            "assert(a > 0)",
            "assert(a < 50 && b)",
            "assert(a == 7 || b < 9)",
            "assert(b != 5)",
        ] {
            // Optimised, it is one comparison with the `if` around it.
            if words == "assert(b != 5)" && level != "-O0" {
                continue;
            }
            assert!(of(&ran, words, "true") > 0, "{level} {words} {ran:?}");
            assert_eq!(of(&ran, words, "false"), 0, "{level} {words}");
            assert_eq!(of(&missing, words, "false"), 0, "{level} {words}");
        }
        assert_eq!(of(&ran, "assert(a > 0)", "unknown"), 0, "{level}");
    }
}
