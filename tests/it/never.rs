//! Outcomes that coverage says never came up, against the counts of clang's source coverage: at no level may one be
//! false, and without optimisation none may be missing.

use crate::conditions::region;
use crate::export::text;
use crate::support::{PROF, folder, module, questions, run, run_and_profile};
use crate::truth::{bare, counted};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

const O0: &[&str] = &["-O0", "-g", "-w"];
/// README's flags.
const O1: &[&str] = &["-O1", "-finline-hint-functions", "-g", "-w"];
const O2: &[&str] = &["-O2", "-g", "-w"];

/// By line and text: how often a condition was true and false.
type Counts = HashMap<(usize, String), [u64; 2]>;

/// What became of what coverage of one program says.
#[derive(Debug, Default)]
struct Tally {
    /// Outcomes that it says never came up, as far as clang counts the condition.
    said: usize,
    /// Those of them that did, or whose condition was never evaluated.
    wrong: Vec<String>,
    /// Outcomes of evaluated conditions that never came up.
    missing: usize,
}

/// Line, outcome and condition of each outcome that never came up, if that is `true` or `false`.
fn find_never(profile: &Path) -> Vec<(usize, bool, String)> {
    let mut coverage = Command::new(PROF);
    coverage.arg("coverage").arg(profile);
    let annotated = text(run(coverage.args(["--annotate", "--width", "400"])));
    let (mut line, mut found) = (0, Vec::new());
    for row in annotated.lines() {
        let Some(never) = row.trim_start().strip_prefix("↳ never ") else {
            let mut words = row.split_whitespace().map(|word| word.parse::<usize>());
            let numbers = [words.next(), words.next()];
            // The count comes first; lines without code have none.
            line = match numbers {
                [_, Some(Ok(number))] | [Some(Ok(number)), _] => number,
                _ => line,
            };
            continue;
        };
        let (outcomes, condition) = never.split_once(": ").unwrap_or((never, ""));
        for outcome in outcomes.split(", ") {
            if let Ok(outcome) = outcome.parse() {
                found.push((line, outcome, condition.to_string()));
            }
        }
    }
    found
}

/// The counts of clang's regions that are conditions, of those on one line.
fn count_conditions(source: &Path, dir: &Path) -> Counts {
    let content = std::fs::read_to_string(source).unwrap();
    let mut counts = Counts::new();
    for (at, [yes, no]) in counted(source, dir) {
        let sum = counts
            .entry((at[0], bare(&region(&content, at))))
            .or_default();
        *sum = [sum[0] + yes, sum[1] + no];
    }
    counts
}

fn check(name: &str, source: &str, flags: &[&str]) -> Tally {
    let dir = folder();
    let modules = [module(name, source, flags, dir.path())];
    let profile = run_and_profile(&modules, &["--scheme", "sbl"], 1, &["-O1"], dir.path());
    let counts = count_conditions(&dir.path().join(name), dir.path());
    let mut tally = Tally::default();
    for (line, outcome, condition) in find_never(&profile) {
        let known = |text: &str| counts.get(&(line, bare(text)));
        let negated = condition.strip_prefix('!').and_then(known);
        let Some([yes, no]) = known(&condition).or(negated).copied() else {
            continue;
        };
        tally.said += 1;
        let is_true = outcome != (known(&condition).is_none());
        let came_up = if is_true { yes } else { no };
        if came_up > 0 || yes + no == 0 {
            let said =
                format!("{name}:{line} {flags:?}: never {outcome}: {condition}: {yes}, {no}");
            tally.wrong.push(said);
        }
    }
    let evaluated = counts.values().filter(|[yes, no]| yes + no > 0);
    tally.missing = evaluated.filter(|counts| counts.contains(&0)).count();
    tally
}

/// A comparison of the library, inlined, of which the last branch alone has the position of the condition.
const COMPARISON: &str = r#"#include <cstdio>
#include <string_view>
int main() {
  int t = 0;
  for (std::string_view n : {"alpha", "beta", "", "alphabet"})
    t += n == "alpha" ? 1 : n.empty() ? 4 : 8;
  std::printf("%d\n", t);
}
"#;

/// An inlined function in a loop of which the optimiser takes the first iteration out.
const PEELED: &str = r#"#include <stdio.h>
#include <string.h>
static int is_kw(const char *s) {
  return !strcmp(s, "if") || !strcmp(s, "else");
}
int main(int argc, char **argv) {
  static const char *w[] = {"if", "x", "else", "y"};
  int n = 0;
  for (int i = 0; i < 4 * argc; i++)
    if (is_kw(w[i]))
      n += i;
    else
      puts(w[i]);
  printf("%d\n", n);
}
"#;

/// A loop of which vectors do most.
const VECTORISED: &str = r#"#include <algorithm>
#include <cstdio>
#include <vector>
int main(int argc, char **) {
  std::vector<int> v;
  for (int i = 0; i < 50; ++i)
    v.push_back(i * 37 % 51);
  int lim = 19 + argc;
  auto pred = [&](int x) { return x > lim && (x % 2 == 0 || x % 3 == 0); };
  std::printf("%d\n", (int)std::count_if(v.begin(), v.end(), pred));
}
"#;

/// A loop that the optimiser replaces by its result, and calls with constants that it computes.
const COMPUTED: &str = r#"#include <stdio.h>
static int sink;
static int small(int x) {
  if (x > 3)
    return 1;
  return 2;
}
__attribute__((noinline)) static int sum(int n, int first) {
  int found = first;
  for (int i = 0; i < n; i++)
    sink += 3;
  for (int i = 0; i < 2; i++)
    if (i * n > 2)
      found = 1;
  if (found)
    sink++;
  return sink;
}
int main(int argc, char **argv) {
  int t = small(2) + small(argc + 5);
  for (int i = 1; i < 4; i++)
    t += sum(i * 2 + argc, i == 9);
  printf("%d\n", t + (argv[0] == 0));
}
"#;

/// What no input of it does: every outcome is missing for certain, since a call stands behind it, or the branch is in a
/// function by itself.
const CERTAIN: &str = r#"#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static int check(const char *name, int n) {
  if (!name) {
    puts("no name");
    return -1;
  }
  while (n > 0) {
    if (strtol(name, 0, 10) > 40)
      return -2;
    putchar('.');
    n--;
  }
  return n;
}
int main(int argc, char **argv) {
  int t = 0;
  for (int i = 0; i < 5; i++)
    t += check(argv[0], i);
  if (argc > 7) {
    puts("many");
    t++;
  }
  printf("%d\n", t);
}
"#;

#[test]
fn never_is_not_said_of_copies_that_the_optimiser_decided() {
    let programs = [
        ("comparison.cpp", COMPARISON),
        ("peeled.c", PEELED),
        ("vectorised.cpp", VECTORISED),
        ("computed.c", COMPUTED),
    ];
    for (name, source) in programs {
        for flags in [O1, O2] {
            let tally = check(name, source, flags);
            assert_eq!(tally.wrong, [""; 0], "{flags:?}");
        }
        let tally = check(name, source, O0);
        assert_eq!(
            (tally.said, &tally.wrong),
            (tally.missing, &vec![]),
            "{name}"
        );
    }
}

#[test]
fn never_is_said_of_optimised_code_where_a_call_or_the_flow_shows_it() {
    for flags in [O0, O1] {
        let tally = check("certain.c", CERTAIN, flags);
        assert_eq!((tally.said, tally.wrong), (3, vec![]), "{flags:?}");
    }
}

/// One program of each seed, which asks some hundred conditions. `P3_NEVER_SEEDS` says how many seeds.
#[test]
fn never_is_true_of_random_programs() {
    let seeds = std::env::var("P3_NEVER_SEEDS").map_or(1, |n| n.parse().unwrap());
    for seed in 1..=seeds {
        let source = questions::program(24, seed);
        for (flags, least) in [(O0, 80), (O1, 5), (O2, 1)] {
            let tally = check("random.c", &source, flags);
            assert_eq!(tally.wrong, [""; 0], "seed {seed}");
            // It finds the most of what is missing, as far as it says so at all.
            let enough = tally.said * 100 >= tally.missing * least;
            assert!(
                enough && tally.missing > 50,
                "seed {seed} {flags:?}: {tally:?}"
            );
        }
    }
}
