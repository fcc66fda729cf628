//! Lines and entries of functions that the optimiser inlined.

use crate::support::{PROF, module, parsed, run, run_and_profile};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The merged profile of a run of C++ `source`, compiled at `level`.
fn profile(source: &str, level: &str, dir: &Path) -> PathBuf {
    let modules = [module("inlined.cpp", source, &[level, "-g"], dir)];
    run_and_profile(&modules, &["--scheme", "sbl"], 1, &["-O1"], dir)
}

/// What a tracefile says of lines and of entries.
fn tracefile(profile: &Path) -> Vec<String> {
    let mut export = Command::new(PROF);
    export.args(["export", "--format", "lcov"]).arg(profile);
    let text = String::from_utf8(run(&mut export).stdout).unwrap();
    let told = |l: &&str| l.starts_with("DA:") || l.starts_with("FNDA:");
    text.lines().filter(told).map(String::from).collect()
}

/// The optimiser left `return y` in the body that nothing calls, and nowhere else.
#[test]
fn body_that_nothing_entered_says_nothing_of_its_lines() {
    let dir = crate::support::folder();
    let source = "int square(int x) {
  int y = x * x;
  return y;
}
int never(int x) {
  return x + 1;
}
int main(int argc, char **argv) {
  return square(argc) - 1;
}
";
    let profile = profile(source, "-O1", dir.path());
    let told = tracefile(&profile);
    let lines: Vec<&str> = told.iter().filter_map(|l| l.strip_prefix("DA:")).collect();
    assert_eq!(lines, ["1,1", "2,1", "5,0", "6,0", "8,1", "9,1"]);
    let mut coverage = Command::new(PROF);
    coverage.args(["coverage", "--never-ran", "--format", "json"]);
    let found = parsed(&run(coverage.arg(profile)).stdout);
    let functions = found["functions"].as_array().unwrap();
    let names: Vec<&str> = functions
        .iter()
        .map(|f| f["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["_Z5neveri"]);
}

/// What initialises the variables of a module has no line; its first code is that of `value`.
#[test]
fn initialiser_of_a_module_has_no_line_of_inlined_code() {
    let dir = crate::support::folder();
    let source = "#include <cstdlib>
volatile int x;
static int value() {
  x = x + 1;
  return atoi(\"7\");
}
static int global = value();
int main() { return global - 7; }
";
    let told = tracefile(&profile(source, "-O1", dir.path()));
    let expected = [
        "FNDA:1,_ZL5valuev",
        "FNDA:1,main",
        "DA:4,1",
        "DA:7,1",
        "DA:8,1",
    ];
    assert_eq!(told, expected);
}

/// A jump goes past the test of `twice`, right to the end of it: that is one of two ways to its last block.
#[test]
fn inlined_code_is_not_entered_from_itself() {
    let dir = crate::support::folder();
    let source = "#include <cstdio>
static int twice(int x) {
  if (x > 3)
    puts(\"big\");
  return x * 2;
}
int main(int argc, char **argv) {
  if (argc > 0)
    puts(\"x\");
  return twice(argc) - 2;
}
";
    let told = tracefile(&profile(source, "-O2", dir.path()));
    assert!(told.contains(&"FNDA:1,_ZL5twicei".into()), "{told:?}");
    assert!(told.contains(&"DA:3,1".into()), "{told:?}");
}
