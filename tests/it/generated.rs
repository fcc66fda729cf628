//! Choices that the compiler added, which nobody wrote: they are no decisions.

use crate::export::text;
use crate::support::text::{assert_line, assert_lines};
use crate::support::{PROF, folder, module, parsed, run, run_and_profile};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Behind the destructor of `t` a `switch` leads on to where `continue`, `return` or nothing led to it; a flag says
/// whether there is a temporary to destroy.
const CLEANUPS: &str = r#"#include <cstdio>
struct T {
  int v;
  T(int v) : v(v) {}
  ~T() { std::putchar('.'); }
  bool over(int n) const { return v > n; }
};
__attribute__((noinline)) int f(int n, int lim) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    T t(i);
    if (t.over(2))
      continue;
    if (sum > lim)
      return -1;
    sum += i;
  }
  return sum;
}
__attribute__((noinline)) int g(int c) {
  if (c > 3 && T(c).over(4))
    return 1;
  return 0;
}
int main() {
  std::printf("%d %d %d\n", f(6, 100), g(2), g(5));
}
"#;

/// `continue` and `goto` become one `switch` over a number.
const MERGED: &str = r#"#include <stdio.h>
__attribute__((noinline)) static int scan(const unsigned char *b, int n) {
  int i = 0, runs = 0;
  while (i < n) {
    int j = i + 1;
    while (j < n && b[j] == b[i])
      j++;
    if (j - i < 3) {
      i = j;
      continue;
    }
    runs++;
    if (runs > 4)
      goto out;
    i = j;
  }
  runs += 100;
out:
  return runs;
}
int main(void) {
  printf("%d\n", scan((const unsigned char *)"aaabccccdeffffgg", 16));
}
"#;

fn profiled(name: &str, source: &str, level: &str, dir: &Path) -> PathBuf {
    let modules = [module(name, source, &[level, "-g"], dir)];
    run_and_profile(&modules, &["--scheme", "sbl"], 1, &["-O1"], dir)
}

fn printed(command: &str, profile: &Path, options: &[&str]) -> String {
    let mut prof = Command::new(PROF);
    text(run(prof.arg(command).arg(profile).args(options)))
}

#[test]
fn choices_of_cleanups_are_no_rows_and_no_branches() {
    let dir = folder();
    let profile = profiled("cleanups.cpp", CLEANUPS, "-O0", dir.path());
    let shown = printed("show", &profile, &["--by", "path", "--function", "^[fg]"]);
    // Rows have a line of the source and one of its conditions; no row is a choice of a cleanup.
    let rows = shown.lines().filter_map(|l| l.strip_prefix("        "));
    let conditions: BTreeSet<&str> = rows.map(|row| row.split("  ").nth(1).unwrap()).collect();
    let expected = [
        "c > 3",
        "c > 3 && T(c).over(4)",
        "i < n",
        "sum > lim",
        "t.over(2)",
    ];
    assert_eq!(conditions, BTreeSet::from(expected), "{shown}");
    assert_line(&shown, "        14  sum > lim  false  ↺ next iteration");
    let full = printed(
        "show",
        &profile,
        &["--by", "path", "--function", "^f", "--full"],
    );
    let added = full
        .lines()
        .filter_map(|l| l.split_once("  added by the compiler, "));
    let ends: Vec<&str> = added.map(|(_, end)| end).collect();
    let expected = [
        "↺ next iteration",
        "↺ next iteration",
        "↺ loop at cleanups.cpp:10",
    ];
    assert_eq!(ends, expected, "{full}");
    let json = parsed(printed("show", &profile, &["--format", "json"]).as_bytes());
    let functions = json["functions"].as_array().unwrap().iter();
    let paths = functions.flat_map(|f| f["paths"].as_array().unwrap());
    let decisions = paths.flat_map(|p| p["decisions"].as_array().unwrap());
    let added: Vec<_> = decisions.filter(|d| d["generated"] == true).collect();
    let says_nothing = |d: &&serde_json::Value| {
        d["outcome"] == "generated" && d.get("condition").is_none() && d.get("way").is_none()
    };
    assert!(
        !added.is_empty() && added.iter().all(says_nothing),
        "{added:?}"
    );
    let annotated = printed("coverage", &profile, &["--annotate"]);
    let never: Vec<&str> = annotated
        .lines()
        .filter_map(|l| l.trim().strip_prefix("↳ "))
        .collect();
    let expected = [
        "never throws: the call of putchar",
        "never throws: the call of T::over",
        "never true: sum > lim",
        "never throws: the call of T::over",
    ];
    assert_eq!(never, expected, "{annotated}");
}

/// The path near an executed one on which `return -1` follows leads on behind the destructor to where that goes.
#[test]
fn path_near_an_executed_one_takes_the_way_on_that_it_decided() {
    let dir = folder();
    let profile = profiled("cleanups.cpp", CLEANUPS, "-O0", dir.path());
    let options = ["--function", "^f", "--nearest", "9"];
    let coverage = printed("coverage", &profile, &options);
    let returning = [
        "      10  i < n      true",
        "      12  t.over(2)  false",
        "      14  sum > lim  true   → return",
        "      nearest: #23 ran 2 times, with sum > lim false at 14",
    ];
    assert_lines(&coverage, &returning);
    // Nothing is left out as a path that cannot run: each is in the list.
    let row = "91.67%    75.00%  65.22%      4  10  f  cleanups.cpp: 15; branches 12,14";
    assert_lines(&coverage, &[row, "    #13 not covered"]);
}

#[test]
fn jumps_that_an_optimiser_merged_are_no_decision() {
    let dir = folder();
    let profile = profiled("merged.c", MERGED, "-O1", dir.path());
    let shown = printed("show", &profile, &["--by", "path"]);
    let rows = shown.lines().filter_map(|l| l.strip_prefix("        "));
    let conditions: BTreeSet<&str> = rows.map(|row| row.split("  ").nth(1).unwrap()).collect();
    let expected = ["b[j] == b[i]", "i < n", "j < n", "nothing is decided"];
    assert_eq!(conditions, BTreeSet::from(expected), "{shown}");
    let annotated = printed("coverage", &profile, &["--annotate"]);
    assert!(!annotated.contains("↳"), "{annotated}");
    // Optimised code is said to be that, once.
    assert_eq!(
        annotated.matches("optimised code").count(),
        1,
        "{annotated}"
    );
    let coverage = printed("coverage", &profile, &[]);
    assert_eq!(coverage.matches("optimised code").count(), 1, "{coverage}");
}
