//! `p3-prof coverage --annotate`: inlined calls, exceptions, and sources that are gone.

use crate::coverage::{BEFORE, after, build, coverage, json};
use crate::support::text::assert_line;
use crate::support::{PROF, folder, module, run_and_profile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines 14, 17 and 19 have no code but that of `bits`, once it is inlined.
const INLINED: &str = "volatile int sink;
static inline int bits(unsigned n) {
    int found = 0;
    while (n) {
        sink = n;
        n &= n - 1;
        found++;
    }
    return found;
}
__attribute__((noinline)) int twice(unsigned n) {
    if (n > 3)
        sink =
            bits(n);
    if (n > 100)
        sink =
            bits(n + 2);
    return
        bits(n + 1);
}
int main(void) {
    for (unsigned i = 0; i < 8; i++)
        sink = twice(i);
    return 0;
}
";

const EXCEPTIONS: &str = "#include <stdexcept>
static int check(int n) {
    if (n > 5)
        throw std::runtime_error(\"big\");
    return n;
}
static int tried(int n) {
    try {
        return check(n);
    } catch (const std::invalid_argument &) {
        return -1;
    } catch (const std::runtime_error &) {
        return -2;
    }
}
int main() {
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += tried(i);
    return sum == 0;
}
";

/// The profile of one source, compiled with debug information.
fn profiled(name: &str, source: &str, level: &str, dir: &Path) -> PathBuf {
    let dir = dir.join(level);
    let modules = [module(name, source, &[level, "-g"], &dir)];
    run_and_profile(&modules, &[], 1, &["-O1"], &dir)
}

/// What stands before the number of each line that has something there.
fn counts(annotated: &str) -> BTreeMap<u32, String> {
    let line = |text: &str| {
        let mut words = text.split_whitespace();
        let (count, number) = (words.next()?, words.next()?);
        // A line without count begins with its number, further right.
        let is_counted = !text.starts_with("            ");
        is_counted.then_some((number.parse().ok()?, count.to_string()))
    };
    annotated.lines().filter_map(line).collect()
}

/// A line ran as often as calls on it whose code is all inlined, however often that code goes round its loop. The
/// oracle is `-O0`, where each of these lines has its own call.
#[test]
fn line_of_inlined_call_ran_as_often_as_the_call() {
    let dir = folder();
    let of = |level| {
        let profile = profiled("a.c", INLINED, level, dir.path());
        let (_, said) = coverage(&profile, &["--annotate"], None);
        let all = json(&profile, &["--function", "^twice$"]);
        let missing = all["functions"][0]["missing_lines"].to_string();
        let counts = counts(&said);
        let of_calls = [14, 17, 19].map(|n| counts.get(&n).cloned().unwrap_or_default());
        (of_calls, missing, said)
    };
    let (calls, _, said) = of("-O0");
    assert_eq!(calls, ["4", "never", "8"], "{said}");
    let (inlined, missing, said) = of("-O2");
    assert_eq!(inlined, calls, "{said}");
    assert_eq!(missing, "[16,17]");
}

/// The clauses of a `try` are at one position, and are neither copies of one condition nor calls; `throw` never
/// returns.
#[test]
fn exceptions_are_named_by_type_and_throw_does_not_return() {
    let dir = folder();
    for level in ["-O0", "-O2"] {
        let profile = profiled("a.cpp", EXCEPTIONS, level, dir.path());
        let (_, all) = coverage(&profile, &["--annotate"], None);
        let (_, missing) = coverage(&profile, &["--annotate=missing"], None);
        for said in [&all, &missing] {
            let line = |text: &str| said.lines().any(|l| l.trim() == text);
            // Whether a copy of a clause came up that an optimiser decided, no branch shows.
            let is_said = line("↳ never catch std::invalid_argument");
            assert_eq!(is_said, level == "-O0", "{level} {said}");
            assert!(!said.contains("copies"), "{level} {said}");
            assert!(!said.contains("never returns"), "{level} {said}");
        }
        let other = "↳ never an exception other than std::runtime_error";
        let is_said = all.contains(other);
        assert!(
            is_said == (level == "-O0") && !missing.contains(other),
            "{level} {all}"
        );
    }
}

#[test]
fn condition_without_source_is_no_call() {
    let dir = folder();
    let profile = build(dir.path(), "gone", BEFORE, 4);
    std::fs::remove_file(dir.path().join("gone/src/a.c")).unwrap();
    let (_, said) = coverage(&profile, &["--annotate=missing"], None);
    let outcomes: Vec<&str> = said
        .lines()
        .filter(|l| l.contains('↳'))
        .map(str::trim)
        .collect();
    let expected = [4, 6].map(|line| format!("↳ never → {line}: the condition at column 9"));
    assert_eq!(outcomes, expected, "{said}");
}

#[test]
fn names_of_changed_functions_keep_to_the_width() {
    let dir = folder();
    let long = |source: &str| source.replace("parity", &"parity_".repeat(20));
    let before = build(dir.path(), "before", &long(BEFORE), 5);
    let now = build(dir.path(), "now", &long(&after()), 44);
    let base = before.to_str().unwrap();
    let (_, covered) = coverage(&now, &["--diff", base, "--width", "60"], None);
    let mut diff = Command::new(PROF);
    diff.arg("diff")
        .args([&before, &now])
        .args(["--width", "60"]);
    let compared = String::from_utf8(diff.output().unwrap().stdout).unwrap();
    for said in [covered, compared] {
        assert_line(
            &said,
            "  parity_parity_parity_parity_p…parity_parity_parity_parity_",
        );
        for line in said.lines() {
            assert!(line.chars().count() <= 60, "{line}");
        }
    }
}
