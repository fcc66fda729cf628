//! Lines of programs that are not optimised, against counters that the programs have themselves.

mod generate;

use crate::export::export;
use crate::support::{PROF, folder, module, parsed, run, run_and_profile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The merged profile of a run of C++ `source`, which is not optimised.
fn profile(source: &str, dir: &Path) -> PathBuf {
    profile_at("-O0", source, dir)
}

fn profile_at(level: &str, source: &str, dir: &Path) -> PathBuf {
    let flags = [level, "-g", "-std=c++20"];
    let modules = [module("lines.cpp", source, &flags, dir)];
    run_and_profile(&modules, &["--scheme", "sbl"], 1, &["-O0"], dir)
}

/// How often each line of the source ran that has code.
fn lines(profile: &Path) -> BTreeMap<u32, u64> {
    let trace = std::fs::read_to_string(export(profile, "lcov", &[])).unwrap();
    let mut lines = BTreeMap::new();
    let mut is_own = false;
    for record in trace.lines() {
        if let Some(file) = record.strip_prefix("SF:") {
            is_own = file.ends_with("/lines.cpp");
        }
        if let Some((line, count)) = record.strip_prefix("DA:").and_then(|l| l.split_once(','))
            && is_own
        {
            lines.insert(line.parse().unwrap(), count.parse().unwrap());
        }
    }
    lines
}

/// The lines of `source` that end with `// COUNT`, `// -` for a line without code, against their counts.
#[track_caller]
fn assert_lines(source: &str) {
    let dir = folder();
    let found = lines(&profile(source, dir.path()));
    for (text, line) in source.lines().zip(1..) {
        let Some((code, expected)) = text.rsplit_once("// ") else {
            continue;
        };
        let count = found.get(&line).map_or("-".into(), u64::to_string);
        assert_eq!(count, expected, "line {line}: {code}");
    }
}

/// Every line of random programs that counts itself runs as often as it says. Of lambdas and templates that nobody uses
/// there is no code.
#[test]
fn lines_of_random_programs_equal_their_own_counters() {
    for seed in [1, 2, 3] {
        let dir = folder();
        let source = generate::program(seed);
        let found = lines(&profile(&source, dir.path()));
        let printed = run(&mut Command::new(dir.path().join("native"))).stdout;
        let printed = String::from_utf8(printed).unwrap();
        let mut ran = 0;
        for (line, count) in (0..).zip(printed.lines()) {
            if source.contains(&format!("hits[{line}]++")) {
                let count: u64 = count.parse().unwrap();
                let text = source.lines().nth(line as usize - 1).unwrap();
                let counted = found.get(&line).copied();
                assert_eq!(counted, Some(count), "seed {seed}, line {line}: {text}");
                ran += u64::from(count > 0);
            }
        }
        assert!(ran > 25, "seed {seed}: {ran} lines");
    }
}

/// The jump from `case 'a' ... 'z'` to the next label has clang's last position, that of line 4.
#[test]
fn labels_and_empty_statements_do_not_cover_lines_before_them() {
    assert_lines(
        "static int f(int c) { // 8
  switch (c) { // 8
  case '0' ... '9':
    return 1; // 0
  case 'a' ... 'z':
    ;
  case '_':
    return 2; // 8
  }
  return 0; // 0
}
int main() {
  int t = 0; // 1
  for (int i = 0; i < 8; i++) // 9
    t += f(\"xbacadxa\"[i]); // 8
  return t - 16; // 1
}
",
    );
}

/// Clang tests for a case of more than 64 values behind the body of that case, and gives the test the body's position.
#[test]
fn tests_for_cases_of_many_values_are_part_of_their_switch() {
    let source = "enum { LOW = -100, LAST = 200 };
static int kind(int v) {
  switch (v) { // 7
  case LOW ... -1:
    return 1; // 3
  case 0:
    return 2; // 1
  case 100 ... LAST: case 300 ... 400:
    return 3; // 2
  }
  return 4; // 1
}
int main() {
  int t = 0;
  for (int i = -3; i < 1; i++) // 5
    t += kind(i); // 4
  return t + kind(150) + kind(333) + kind(777) - 15; // 1
}
";
    assert_lines(source);
    let decided = decisions_of_kind(source);
    let expected = [
        "v case 0",
        "v case 100 ... 200",
        "v case 300 ... 400",
        "v case LOW ... -1",
        "v default",
    ];
    assert_eq!(decided, expected);
}

/// By path of function `kind` of C++ `source`: its decisions with their outcomes, in the order of the texts.
fn decisions_of_kind(source: &str) -> Vec<String> {
    let dir = folder();
    let profile = profile(source, dir.path());
    let mut show = Command::new(PROF);
    show.args(["show", "--function", "kind", "--format", "json"]);
    let shown = parsed(&run(show.arg(&profile)).stdout);
    let mut decided: Vec<String> = Vec::new();
    for path in shown["functions"][0]["paths"].as_array().unwrap() {
        let decisions = path["decisions"].as_array().unwrap();
        let said = decisions.iter().map(|d| {
            let word = |key: &str| d[key].as_str().unwrap_or("?").to_string();
            format!("{} {}", word("condition"), word("outcome"))
        });
        decided.push(said.collect::<Vec<_>>().join(", "));
    }
    decided.sort();
    decided
}

/// Of at most 64 values, clang makes as many cases.
#[test]
fn cases_of_few_values_are_told_as_the_source_writes_them() {
    let decided = decisions_of_kind(
        "static int kind(int v) {
  switch (v) {
  case 0x30 ... 0x39: case 'a' ... 'f':
    return 1;
  case '_':
    return 2;
  }
  return 3;
}
int main() { return kind('7') + kind('0') + kind('c') + kind('_') + kind('x') - 8; }
",
    );
    let expected = [
        "v case '_'",
        "v case 'a' ... 'f'",
        "v case 0x30 ... 0x39",
        "v case 0x30 ... 0x39",
        "v default",
    ];
    assert_eq!(decided, expected);
}

/// Uses of the names have the position of the names; so do the calls that initialise those of a pair.
#[test]
fn uses_of_structured_bindings_do_not_count_for_their_line() {
    assert_lines(
        "#include <map>
#include <utility>
struct P { int a, b; };
template <typename T> static int sum(T p, int n) {
  int s = 0; // 2
  auto [a, b] = p; // 2
  for (int i = 0; i < n; i++) // 202
    s += a * b; // 200
  return s; // 2
}
int main() {
  int s = sum(P{2, 3}, 100) + sum(std::pair<int, int>(2, 3), 100); // 1
  P p = {3, 4}; // 1
  const auto &[x, // 1
               y] = p;
  while (s > x) // 400
    s -= y - 1; // 399
  std::map<int, int> m = {{1, 2}}; // 1
  for (const auto &[k, v] : m) // 2
    while (s < v * 5 + k) // 9
      s++; // 8
  return s - 11; // 1
}
",
    );
}

/// Clauses are emitted last to first, each under the `}` of the one before, and the search for them under that of the
/// `try`.
#[test]
fn line_of_a_clause_runs_as_often_as_it_catches() {
    assert_lines(
        "#include <stdexcept>
static int f(int k) {
  if (k == 1) // 18
    throw std::runtime_error(\"x\"); // 6
  if (k == 2) // 12
    throw std::logic_error(\"y\"); // 4
  if (k == 3) // 8
    throw 7; // 3
  return k; // 5
}
static int g(int k) {
  try {
    return f(k); // 10
  } catch (const std::runtime_error &e) { // 4
    return e.what()[0]; // 4
  } catch (const std::exception &e) { // 2
    k += 10; // 2
  } catch (...) { // 2
  }
  return k; // 4
}
static int h() {
  int n = 0; // 1
  for (int i = 0; i < 8; i++) { // 8
    try {
      n += f(i == 7 ? 3 : i % 3); // 8
    }
    catch (int e)
    { // 1
      break;
    }
    catch (...)
    { // 4
      try { throw; } catch (std::exception &) { n++; } // 4
      if (i > 4) // 4
        continue; // 1
      n++; // 3
    } // 4
    n++; // 6
  }
  return n; // 1
} // -
int main() {
  int t = 0; // 1
  for (int i = 0; i < 10; i++) // 11
    t += g(i % 5 ? i % 4 : 1); // 10
  return (t + h()) * 0; // 1
}
",
    );
}

/// Clang constructs, copies and destroys the elements of arrays in loops of its own.
#[test]
fn loops_over_elements_of_arrays_do_not_count_for_lines() {
    assert_lines(
        "#include <string>
#include <vector>
struct T {
  int x = 1;
  T() {}
  T(const T &o) : x(o.x) {} // 3
  ~T() { x = 0; } // 21
};
static int f(int n) {
  std::vector<std::string> v{\"a\", \"b\", \"c\"}; // 1
  T a[4]; // 1
  T *p = new T[5]; // 1
  delete[] p; // 1
  int s = 0; // 1
  for (int i = 0; i < n; i++) { // 4
    T b[2]; // 3
    s += b[1].x; // 3
  } // 3
  T c[3]; // 1
  auto l = [c] { return c[2].x; };
  return s + l() + v.size() + a[3].x; // 1
} // 1
int main() { return f(3) - 8; } // 1
",
    );
}

/// Each call that was inlined has a copy of the line.
#[test]
fn line_of_a_function_counts_all_calls_that_were_inlined_into_one_function() {
    assert_lines(
        "[[gnu::always_inline]] static inline int next(int x) {
  int y = x + 1; // 5
  return y; // 5
}
int main() {
  int s = next(1) + next(2); // 1
  for (int i = 0; i < 3; i++) // 4
    s += next(i); // 3
  return s - 11; // 1
}
",
    );
}

/// The branch of a left operand has the position of the operator, which may begin the line of the right one.
#[test]
fn operator_that_begins_a_line_counts_by_its_right_operand() {
    assert_lines(
        "static int costly(int v) { // 0
  return v > 3; // 0
}
static int f(int v, int w) { // 5
  if (v < 0 // 5
      && costly(v)) // 0
    return 1; // 0
  int both = v == 7 // 5
    || w == 2 // 5
    || costly(w); // 0
  while (v > 100 // 5
         && w) // 0
    v--; // 0
  return both; // 5
}
int main() {
  int s = 0; // 1
  for (int i = 0; i < 5; i++) // 6
    s += f(i, 2); // 5
  return s - 5; // 1
}
",
    );
}

/// What a `}` ends is not what the rest of its line begins.
#[test]
fn line_counts_by_what_the_source_puts_there_and_not_by_a_brace() {
    let source = "static int n;
static int f(int c, int d) { // 10
  if (c >= '0' && c <= '9') { // 10
    n++; // 10
  } else if (c == '{' && d) { // 0
    n--; // 0
  } else { // -
    n += 2; // 0
  }
  return n; // 10
}
int main() {
  for (int i = 0; i < 10; i++) // 11
    f('0' + i, i); // 10
  return n - 10; // 1
}
";
    assert_lines(source);
    let dir = folder();
    let profile = profile(source, dir.path());
    let added = source
        .lines()
        .skip(4)
        .take(5)
        .map(|line| format!("+{line}\n"));
    let head = "--- a/lines.cpp\n+++ b/lines.cpp\n@@ -4,0 +5,5 @@\n".to_string();
    let patch = added.fold(head, |patch, line| patch + &line);
    std::fs::write(dir.path().join("patch.diff"), patch).unwrap();
    let mut coverage = Command::new(PROF);
    coverage.args(["coverage", "--format", "json", "--patch"]);
    let coverage = coverage.arg(dir.path().join("patch.diff")).arg(&profile);
    let found = parsed(&run(coverage).stdout);
    let patch = ["lines", "code", "ran"].map(|key| found["patch"][key].as_u64().unwrap());
    assert_eq!(patch, [5, 3, 0]);
    assert_eq!(found["total"]["executed"], 0);
}

/// If an element's constructor throws, clang asks whether there are any to destroy.
#[test]
fn guard_of_elements_that_are_destroyed_is_no_branch() {
    let source = "struct S { int v; S(int x) : v(x) { if (x == 7) throw 1; } ~S() {} };
static int f(int k) {
  S a[3] = {S(1), S(2), S(k)};
  return a[1].v;
}
int main() {
  try { return f(6) + f(7); } catch (int) { return 0; }
}
";
    let dir = folder();
    let profile = profile(source, dir.path());
    let trace = std::fs::read_to_string(export(&profile, "lcov", &[])).unwrap();
    let ways = trace.lines().filter(|l| l.starts_with("BRDA:3,"));
    // Each call returns or throws.
    assert_eq!(ways.count(), 6, "{trace}");
}

/// An optimiser decides conditions itself in some copies of a branch: of its code nothing is said.
#[test]
fn conditions_of_optimised_code_are_not_called_never_evaluated() {
    let source = "volatile int seen;
[[gnu::noinline]] static void f(int a, int b) {
  if (a > 2 && b > 3)
    seen++;
}
int main() {
  for (int i = 0; i < 3; i++)
    f(seen, i);
}
";
    for (level, expected) in [("-O0", 1), ("-O1", 0)] {
        let dir = folder();
        let profile = profile_at(level, source, dir.path());
        let mut coverage = Command::new(PROF);
        coverage.args(["coverage", "--format", "json"]);
        let found = parsed(&run(coverage.arg(&profile)).stdout);
        let unasked = &found["files"][0]["never_evaluated"];
        let number = unasked.as_array().map_or(0, Vec::len);
        assert_eq!(number, expected, "{level}: {unasked}");
    }
}

/// Operands that were never asked for, also those in macros.
#[test]
fn conditions_that_were_never_evaluated_on_lines_that_ran_are_reported() {
    let source = "#define BOTH(a, b) ((a) && (b))
static int f(int a, int b, int c) {
  if (a && b)
    c++;
  while (a && b > 1)
    c--;
  if (!a) c += b; else if (b) c += 3;
  do c++; while (a && b != c);
  if (a) switch (b) { case 1: c++; }
  if (BOTH(a, c)) c++;
  if (c
      && a
      && b)
    c++;
  return c;
}
static int g(int a) { return a && a > 3; }
int main(int n, char **) { return f(0, 1, 2) + f(0, 5, 2) + g(0) - 9; }
";
    let dir = folder();
    let profile = profile(source, dir.path());
    let mut coverage = Command::new(PROF);
    coverage.args(["coverage", "--format", "json"]);
    let found = parsed(&run(coverage.arg(&profile)).stdout);
    let unasked = found["files"][0]["never_evaluated"].as_array().unwrap();
    let unasked = unasked.iter().map(|condition| {
        let words = condition["condition"].as_str().unwrap();
        format!("{}:{} {words}", condition["line"], condition["column"])
    });
    let expected = [
        "3:12 b",
        "5:15 b > 1",
        "7:28 b",
        "8:23 b != c",
        "9:18 b",
        "10:7 BOTH(a, c): c",
    ];
    assert_eq!(unasked.collect::<Vec<_>>(), expected);
    // The line of an operand that was never evaluated did not run.
    let missing = found["files"][0]["missing_lines"].as_array().unwrap();
    assert!(missing.iter().any(|line| line == 13), "{missing:?}");
    let printed = |options: &[&str]| {
        let mut coverage = Command::new(PROF);
        coverage.arg("coverage").args(options).arg(&profile);
        String::from_utf8(run(&mut coverage).stdout).unwrap()
    };
    let annotated = printed(&["--annotate=missing"]);
    let said = annotated
        .lines()
        .filter_map(|l| l.trim_start().strip_prefix("↳ "));
    let said: Vec<&str> = said.filter(|l| l.starts_with("never evaluated")).collect();
    assert_eq!(said[1], "never evaluated: b > 1");
    assert_eq!(said.len(), expected.len());
    let list = printed(&["--function", "^_ZL1fiii$", "--nearest", "0"]);
    assert!(list.contains("never evaluated 3,5,7-10"), "{list}");
    std::fs::write(
        dir.path().join("patch.diff"),
        "--- a/lines.cpp\n+++ b/lines.cpp\n@@ -2,0 +3,1 @@\n+  if (a && b)\n",
    )
    .unwrap();
    let patch = dir.path().join("patch.diff");
    let patch = printed(&["--patch", patch.to_str().unwrap()]);
    let expected = "conditions never evaluated on lines that ran: lines.cpp:3 b\n";
    assert!(patch.contains(expected), "{patch}");
}
