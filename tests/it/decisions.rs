//! Decisions that the text at their own place does not name: in macros, behind labels that share code, behind joined
//! conditions, and those that a compiler added; against counts by hand.

use crate::conditions::executed;
use crate::export::text;
use crate::support::text::assert_line;
use crate::support::{PROF, folder, module, parsed, run, run_and_profile};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// How often each condition was true, false, and neither is known.
type Outcomes = BTreeMap<String, [u64; 3]>;

fn report(profile: &Path, options: &[&str]) -> String {
    let mut command = Command::new(PROF);
    text(run(command
        .args(&options[..1])
        .arg(profile)
        .args(&options[1..])))
}

/// The outcomes of what was asked in functions whose names begin with `f_`.
fn outcomes(profile: &Path) -> Outcomes {
    let shown =
        parsed(report(profile, &["show", "--function", "^f_", "--format", "json"]).as_bytes());
    let functions = shown["functions"].as_array().unwrap().iter();
    let mut found = Outcomes::new();
    for path in functions.flat_map(|f| f["paths"].as_array().unwrap()) {
        let decisions = path["decisions"].as_array().unwrap().iter();
        for d in decisions.filter(|d| d["implied"] != true) {
            let Value::String(condition) = &d["condition"] else {
                continue;
            };
            let outcome = ["true", "false"].iter().position(|o| d["outcome"] == *o);
            let count = path["count"].as_u64().unwrap();
            found.entry(condition.clone()).or_default()[outcome.unwrap_or(2)] += count;
        }
    }
    found
}

const HEADER: &str = "#define CHECK(x) do { if (!(x)) failures++; } while (0)
#ifdef NDEBUG
#define TEST(a, b) ((void)0)
#else
#define TEST(a, b) do { if ((a) != (b)) failures++; } while (0)
#endif
#define UNLESS(x) if (!(x))
#define CAT(p, s) p##s
#define RETURN_IF(c, v) \\
  do { \\
    if ((c)) \\
      return (v); \\
  } while (0)
#define LOOP(n, body) for (int k = 0; k < (n) && failures < 1000; k++) { body; }
#define RANGE(v, ...) RANGE_(v, __VA_ARGS__)
#define RANGE_(v, lo, hi) ((v) >= (lo) && (v) <= (hi))
#define EACH(X) X(1) X(4) X(7)
";

/// Macros of every form, called with every number below 10.
const MACROS: &str = "#include \"macros.h\"
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SCANFOR(X) { while (*s != 0 && !(X)) ++s; }
#define CLAMP(v, lo, hi) \\
  ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
#define SWAP(a, b) ({ int r = 0; if ((a) > (b)) { r = 1; } r; })
#define LIMIT 5
#define TOO_BIG (n > LIMIT)
#define F __attribute__((noinline)) int
static int failures;
F f_max(int a, int b) { return MAX(a, b); }
F f_check(int a, int b) { CHECK(a > 3 && b < 2); return 0; }
F f_test(int a) { TEST(a, 4); return 0; }
F f_unless(int a) { UNLESS(a > 4 || a == 2) return 1; return 0; }
F f_scan(const char *s) { SCANFOR(*s == 'x'); return *s; }
F f_nested(int a) { return MAX(a, CLAMP(a, 3, 6)); }
F f_swap(int a) { if (SWAP(a, 7)) return 1; return 0; }
F f_big(int n) { if (TOO_BIG) return 1; return 0; }
F f_range(int a) { int val_x = a; if (CAT(val_, x) > 3 && RANGE(a, 5, 8)) return 1; return 0; }
F f_return(int a) { RETURN_IF(a < 3, -1); RETURN_IF(a > 6, -2); return 5; }
F f_loop(int n) { int s = 0; LOOP(n, if (k % 2) s++) return s; }
F f_each(int n) {
  int s = 0;
#define X(v) if (n > v) s += v;
  EACH(X)
  return s;
}
int main(void) {
  int s = f_scan(\"abxc\") + f_scan(\"ab\");
  for (int i = 0; i < 10; i++)
    s += f_max(i, 7) + f_check(i, i - 4) + f_test(i) + f_unless(i) + f_nested(i) + f_swap(i) + f_big(i)
       + f_range(i) + f_return(i) + f_loop(i) + f_each(i);
  printf(\"%d %d\\n\", s, failures);
}
";

/// How often each condition is true and false.
fn counts_by_hand() -> BTreeMap<&'static str, [u64; 2]> {
    let all = |is_asked: &dyn Fn(i64) -> bool, is_true: &dyn Fn(i64) -> bool| {
        let asked = (0..10).filter(|i| is_asked(*i));
        let [mut yes, mut no] = [0, 0];
        asked.for_each(|i| *if is_true(i) { &mut yes } else { &mut no } += 1);
        [yes, no]
    };
    let always = |is_true: &dyn Fn(i64) -> bool| all(&|_| true, is_true);
    let clamped = |i: i64| i.clamp(3, 6);
    // Of the values, CLAMP is asked for in the comparison and where that is false.
    let again = |i: i64| i <= clamped(i);
    let plus = |[a, b]: [u64; 2], [c, d]: [u64; 2]| [a + c, b + d];
    BTreeMap::from([
        ("MAX(a, b): (a) > (b)", always(&|i| i > 7)),
        ("CHECK(a > 3 && b < 2): a > 3", always(&|i| i > 3)),
        (
            "CHECK(a > 3 && b < 2): b < 2",
            all(&|i| i > 3, &|i| i - 4 < 2),
        ),
        ("TEST(a, 4): (a) != (4)", always(&|i| i != 4)),
        ("UNLESS(a > 4 || a == 2): a > 4", always(&|i| i > 4)),
        (
            "UNLESS(a > 4 || a == 2): a == 2",
            all(&|i| i <= 4, &|i| i == 2),
        ),
        ("SCANFOR(*s == 'x'): *s != 0", [5, 1]),
        ("SCANFOR(*s == 'x'): *s == 'x'", [1, 4]),
        (
            "MAX(a, CLAMP(a, 3, 6)): (a) < (3)",
            plus(always(&|i| i < 3), all(&again, &|i| i < 3)),
        ),
        (
            "MAX(a, CLAMP(a, 3, 6)): (a) > (6)",
            plus(
                all(&|i| i >= 3, &|i| i > 6),
                all(&|i| again(i) && i >= 3, &|i| i > 6),
            ),
        ),
        (
            "MAX(a, CLAMP(a, 3, 6)): (a) > (CLAMP(a, 3, 6))",
            always(&|i| i > clamped(i)),
        ),
        ("SWAP(a, 7): (a) > (7)", always(&|i| i > 7)),
        ("SWAP(a, 7)", always(&|i| i > 7)),
        ("TOO_BIG", always(&|i| i > 5)),
        ("CAT(val_, x) > 3", always(&|i| i > 3)),
        ("RANGE(a, 5, 8): (a) >= (5)", all(&|i| i > 3, &|i| i >= 5)),
        ("RANGE(a, 5, 8): (a) <= (8)", all(&|i| i >= 5, &|i| i <= 8)),
        ("RETURN_IF(a < 3, -1): a < 3", always(&|i| i < 3)),
        ("RETURN_IF(a > 6, -2): a > 6", all(&|i| i >= 3, &|i| i > 6)),
        ("LOOP(n, if (k % 2) s++): k < (n)", [45, 10]),
        ("LOOP(n, if (k % 2) s++): failures < 1000", [45, 0]),
        ("LOOP(n, if (k % 2) s++): k % 2", [20, 25]),
        ("EACH(X): n > 1", always(&|i| i > 1)),
        ("EACH(X): n > 4", always(&|i| i > 4)),
        ("EACH(X): n > 7", always(&|i| i > 7)),
    ])
}

/// What a macro asks is quoted behind its call, and was true and false as often as that was so. An optimiser may leave
/// questions without a branch, or without an answer, but it adds none.
#[test]
fn conditions_in_macros_have_their_outcomes() {
    let expected = counts_by_hand();
    for level in ["-O0", "-O1", "-O2"] {
        let dir = folder();
        std::fs::write(dir.path().join("macros.h"), HEADER).unwrap();
        let profile = executed("macros.c", MACROS, level, dir.path());
        let found = outcomes(&profile);
        for (condition, [yes, no, unknown]) in &found {
            let counted = expected.get(condition.as_str());
            if level == "-O0" {
                let counted = counted.unwrap_or_else(|| panic!("{condition}: {found:#?}"));
                assert_eq!(
                    [*yes, *no, *unknown],
                    [counted[0], counted[1], 0],
                    "{condition}"
                );
            } else if let Some([most_yes, most_no]) = counted {
                assert!(
                    yes <= most_yes && no <= most_no,
                    "{level} {condition}: {yes} {no}"
                );
            } else {
                assert_eq!([*yes, *no], [0, 0], "{level} {condition}");
            }
        }
        if level == "-O0" {
            assert_eq!(found.len(), expected.len(), "{found:#?}");
        }
    }
}

const LABELS: &str = "#include \"labels.h\"
#include <stdio.h>
#define LIST(X) X(ALPHA) X(BETA) X(GAMMA)
#define X(n) n,
enum greek { LIST(X) DELTA = 10, EPSILON };
#undef X
#define OP_ADD 0x21
#define OP_SUB (OP_ADD + 1)
__attribute__((noinline)) int f_letter(enum greek g) {
  switch (g) {
  case ALPHA:
  case GAMMA: return 1;
  case BETA: case DELTA:
  case EPSILON:
    return 2;
  }
  return 0;
}
__attribute__((noinline)) int f_number(int k) {
  switch (k) {
  case K_ONE: return 1;
  case K_TWO: case K_THREE: case OP_SUB: return printf(\"%s\", \"\");
  case OP_ADD: case -3: return 7;
  default: return 3;
  }
}
int main(void) {
  int s = f_number(0x21) + f_number(0x22) + f_number(-3);
  for (int i = 0; i < 12; i++)
    s += f_letter((enum greek)i) + f_number(i);
  printf(\"%d\\n\", s);
}
";

/// Labels that share their code are named, too: enumerators and macros of this file and of headers beside it. One whose
/// value the text does not tell is a number.
#[test]
fn labels_that_share_code_have_names() {
    let dir = folder();
    let header = "enum { K_ONE = 1, K_TWO, K_THREE = K_TWO + 3 };\n";
    std::fs::write(dir.path().join("labels.h"), header).unwrap();
    let profile = executed("labels.c", LABELS, "-O0", dir.path());
    let shown = report(&profile, &["show", "--by", "path", "--function", "^f_"]);
    let outcome = |l: &str| {
        let behind = l.split_once("switch (")?.1.split_once(')')?.1;
        Some(behind.split('→').next()?.trim().to_string())
    };
    let found: std::collections::BTreeSet<String> = shown.lines().filter_map(outcome).collect();
    let expected = [
        "case -3",
        "case 34",
        "case 5",
        "case ALPHA",
        "case BETA",
        "case DELTA",
        "case EPSILON",
        "case GAMMA",
        "case K_ONE",
        "case K_TWO",
        "case OP_ADD",
        "default",
    ];
    assert_eq!(found, expected.map(String::from).into(), "{shown}");
}

/// What `a || b || (c && d)` has decided decides nothing again, and `d` is asked for itself.
#[test]
fn last_operand_of_nested_join_is_told() {
    let source = "#include <stdio.h>
__attribute__((noinline)) int f_any(int a, int b, int c, int d) {
  int n = 0;
  while (n < 3 && (a || b || (c && d))) n++;
  return n;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 16; i++) s += f_any(i & 1, i & 2, i & 4, i & 8);
  printf(\"%d\\n\", s);
}
";
    let dir = folder();
    let profile = executed("any.c", source, "-O0", dir.path());
    // 13 of 16 calls go round three times; the others stop at `c` (2) or `d` (1).
    let n = |yes: u64, no: u64| [yes, no, 0];
    let counted: Outcomes = [
        ("n < 3", n(13 * 3 + 3, 13)),
        ("a", n(8 * 3, 5 * 3 + 3)),
        ("b", n(4 * 3, 3 + 3)),
        ("c", n(3 + 1, 2)),
        ("d", n(3, 1)),
    ]
    .map(|(text, counts)| (text.to_string(), counts))
    .into();
    assert_eq!(outcomes(&profile), counted);
    let annotated = report(&profile, &["coverage", "--annotate=missing"]);
    // No line and no outcome is missing, so none is printed.
    let file = dir.path().join("any.c");
    let head = format!("{}: lines 100.00%, branches 100.00%", file.display());
    assert_eq!(annotated.trim_end(), head);
}

const CHECKS: &str = "#include <stdio.h>
extern __attribute__((noreturn)) void panic(void) \
__asm__(\"_ZN4core9panicking11panic_const24panic_const_add_overflow17h0123456789abcdefE\");
#define ADD(a, b) ({ int sum; if (__builtin_add_overflow(a, b, &sum)) panic(); sum; })
__attribute__((noinline)) int f_sum(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    s = ADD(s, i);
    if (s > 3)
      s = ADD(s, 1);
  }
  return s;
}
__attribute__((noinline)) int f_plain(int a, int b) { return ADD(a, b); }
int main(void) { printf(\"%d\\n\", f_sum(5) + f_plain(3, 4)); }
";

/// Checks that a compiler added are folded, but where nothing else is decided; they are no branches of coverage.
#[test]
fn checks_of_overflow_are_folded_and_counted_apart() {
    let dir = folder();
    let panic = "#include <stdlib.h>
void panic(void) __asm__(\"_ZN4core9panicking11panic_const24panic_const_add_overflow17h0123456789abcdefE\");
void panic(void) { abort(); }
";
    let sources = [("checks.c", CHECKS), ("panic.c", panic)];
    let modules = sources.map(|(name, text)| module(name, text, &["-O0", "-g"], dir.path()));
    let profile = run_and_profile(&modules, &["--scheme", "sbl"], 1, &["-O0"], dir.path());
    let show = |options: &[&str]| {
        let common = ["show", "--by", "path", "--function"];
        report(&profile, &[&common[..], options].concat())
    };
    let sum = show(&["^f_sum$"]);
    assert_line(
        &sum,
        "           ⋯ 2 steps in checks of overflow and bounds",
    );
    assert!(!sum.contains("ADD("), "{sum}");
    let full = show(&["^f_sum$", "--full"]);
    let checks = "        7  ADD(s, i): __builtin_add_overflow(s, i, &sum)  false";
    assert_line(&full, checks);
    assert!(!full.contains('⋯'), "{full}");
    let plain = show(&["^f_plain$"]);
    let alone = "        13  ADD(a, b): __builtin_add_overflow(a, b, &sum)  false  → return";
    assert_line(&plain, alone);
    assert!(!plain.contains('⋯'), "{plain}");
    let coverage = report(&profile, &["coverage", "--function", "^f_"]);
    let apart = "3 checks of overflow and bounds held, counted apart\n";
    assert!(coverage.contains(apart), "{coverage}");
    let headline = coverage.lines().next().unwrap();
    let expected = "lines 9 of 9 (100.00%), branches 4 of 4 (100.00%), pairs of edges 15 of 22 (68.18%), paths near";
    assert_eq!(headline, expected, "{coverage}");
    let missing = report(
        &profile,
        &["coverage", "--function", "^f_", "--annotate=missing"],
    );
    let file = dir.path().join("checks.c");
    let head = format!("{}: lines 100.00%, branches 100.00%", file.display());
    assert_eq!(missing.trim_end(), head);
}

/// A loop that the compiler says nothing of, inlined, is named by its first code in the source, and not by what was
/// inlined into it, or by where it was inlined.
#[test]
fn loop_of_gotos_is_named_by_its_first_code() {
    let source = "#include <stdio.h>
static inline int low(const char *s) {
  return *s >= 'a'
         && *s <= 'z';
}
static inline int count(const char *s) {
  int n = 0;
again:
  if (*s == 'x')
    n += 3;
  n += low(s);
  s++;
  if (*s)
    goto again;
  return n;
}
__attribute__((noinline)) int f_count(const char *s) {
  puts(\"\");
  return count(s)
         + 1;
}
int main(int argc, char **argv) { return f_count(argv[0]) == argc; }
";
    for level in ["-O1", "-O2"] {
        let dir = folder();
        let profile = executed("count.c", source, level, dir.path());
        let loops = report(&profile, &["show", "--by", "loop", "--function", "^f_"]);
        assert!(
            loops.contains("loop in count at count.c:9\n"),
            "{level} {loops}"
        );
    }
}
