//! Decisions and MC/DC: against the vectors of random expressions by definition, against clang's own MC/DC, and where
//! decisions may stand.

use crate::support::generate::Random;
use crate::support::{PROF, folder, llvm, module, parsed, run, run_and_profile};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// An expression over bits of `b`.
enum Expression {
    Bit(usize),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
}

type Values = Vec<Option<bool>>;

impl Expression {
    /// One of `n` conditions, the first of which is bit `first`.
    fn random(random: &mut Random, first: usize, n: usize) -> Expression {
        let e = if n == 1 {
            Expression::Bit(first)
        } else {
            let left = 1 + random.below(n - 1);
            let a = Box::new(Expression::random(random, first, left));
            let b = Box::new(Expression::random(random, first + left, n - left));
            if random.below(2) == 0 {
                Expression::And(a, b)
            } else {
                Expression::Or(a, b)
            }
        };
        if random.below(4) == 0 {
            Expression::Not(Box::new(e))
        } else {
            e
        }
    }

    fn text(&self) -> String {
        match self {
            Expression::Bit(i) => format!("(b & {})", 1 << i),
            Expression::Not(inner) => format!("!{}", inner.text()),
            Expression::And(a, b) => format!("({} && {})", a.text(), b.text()),
            Expression::Or(a, b) => format!("({} || {})", a.text(), b.text()),
        }
    }

    fn evaluate(&self, bits: usize, seen: &mut Values) -> bool {
        match self {
            Expression::Bit(i) => {
                let value = bits >> i & 1 == 1;
                seen[*i] = Some(value);
                value
            }
            Expression::Not(inner) => !inner.evaluate(bits, seen),
            Expression::And(a, b) => a.evaluate(bits, seen) && b.evaluate(bits, seen),
            Expression::Or(a, b) => a.evaluate(bits, seen) || b.evaluate(bits, seen),
        }
    }

    /// Whether `!` stands in front of joined conditions somewhere below the top: clang has no MC/DC of these.
    fn nests_negation(&self, is_top: bool) -> bool {
        match self {
            Expression::Bit(_) => false,
            Expression::Not(inner) => {
                let mut inner = inner;
                while let Expression::Not(more) = &**inner {
                    inner = more;
                }
                let is_joined = !matches!(**inner, Expression::Bit(_));
                is_joined && !is_top || inner.nests_negation(is_top)
            }
            Expression::And(a, b) | Expression::Or(a, b) => {
                a.nests_negation(false) || b.nests_negation(false)
            }
        }
    }
}

/// An expression, the inputs that it is evaluated with, and where it stands.
struct Case {
    expression: Expression,
    conditions: usize,
    inputs: Vec<usize>,
    context: usize,
}

const CONTEXTS: [&str; 7] = [
    "if (EXPR) return 1; return 0;",
    "while (EXPR) return 1; return 0;",
    "for (; EXPR;) return 1; return 0;",
    "int n = 0; do { if (n++) return 1; } while (EXPR); return 0;",
    "int n = 0; n = EXPR ? same(n) : same(3); return n;",
    "if (IF_MACRO(EXPR)) return 1; return 0;",
    "return EXPR;",
];
/// That with `?:`.
const CHOICE: usize = 4;
/// That in which clang names places inside of the macro.
const MACRO: usize = 5;
/// The first context in which the value is used.
const VALUE: usize = 6;

impl Case {
    fn random(random: &mut Random, n: usize) -> Case {
        let conditions = 2 + n % if n % 9 == 8 { 11 } else { 4 };
        let inputs = 1 + random.below(3 << conditions.min(4));
        Case {
            expression: Expression::random(random, 0, conditions),
            conditions,
            inputs: (0..inputs).map(|_| random.below(1 << conditions)).collect(),
            context: n % CONTEXTS.len(),
        }
    }

    /// How often each vector is evaluated.
    fn vectors(&self) -> BTreeMap<(Values, bool), u64> {
        let mut vectors = BTreeMap::new();
        for bits in &self.inputs {
            let mut seen = vec![None; self.conditions];
            let outcome = self.expression.evaluate(*bits, &mut seen);
            *vectors.entry((seen, outcome)).or_default() += 1;
        }
        vectors
    }

    /// Which conditions are shown, by the definition of unique causes.
    fn shown(&self) -> Vec<bool> {
        let vectors: Vec<(Values, bool)> = self.vectors().into_keys().collect();
        let differ =
            |a: &Values, b: &Values, i: usize| a[i].is_some() && b[i].is_some() && a[i] != b[i];
        let is_shown = |i: usize| {
            vectors.iter().any(|(a, x)| {
                vectors.iter().any(|(b, y)| {
                    let others = (0..self.conditions).filter(|j| *j != i && differ(a, b, *j));
                    x != y && differ(a, b, i) && others.count() == 0
                })
            })
        };
        (0..self.conditions).map(is_shown).collect()
    }
}

/// A program with a function on a line of its own for each case, from line 3 on.
fn program(cases: &[Case]) -> String {
    let mut text = "static int same(int n) { return n; }\n#define IF_MACRO(x) x\n".to_string();
    for (n, case) in cases.iter().enumerate() {
        let body = CONTEXTS[case.context].replace("EXPR", &case.expression.text());
        let _ = writeln!(text, "static int f{n}(unsigned b) {{ {body} }}");
    }
    text += "int main(void) {\n    int sum = 0;\n";
    for (n, case) in cases.iter().enumerate() {
        for bits in &case.inputs {
            let _ = writeln!(text, "    sum += f{n}({bits});");
        }
    }
    text + "    return sum < 0;\n}\n"
}

fn cases(seed: u64, number: usize) -> Vec<Case> {
    let mut random = Random::new(seed);
    (0..number).map(|n| Case::random(&mut random, n)).collect()
}

/// The decisions of several conditions, as JSON has them, by line.
fn decisions(profile: &Path, option: &str) -> BTreeMap<u64, Value> {
    let mut command = Command::new(PROF);
    command
        .arg("coverage")
        .arg(profile)
        .args([option, "--format", "json"]);
    let report = parsed(&run(&mut command).stdout);
    let all = report["mcdc"]["decisions"].as_array().unwrap().clone();
    let has_several = |d: &Value| d["conditions"].as_array().unwrap().len() > 1;
    let all = all.into_iter().filter(has_several);
    all.map(|d| (d["line"].as_u64().unwrap(), d)).collect()
}

fn judged(decision: &Value) -> Vec<&str> {
    let conditions = decision["conditions"].as_array().unwrap();
    conditions
        .iter()
        .map(|c| c["mcdc"].as_str().unwrap())
        .collect()
}

fn write_values(values: &Values) -> String {
    let sign = |value: &Option<bool>| match value {
        Some(true) => 'T',
        Some(false) => 'F',
        None => '-',
    };
    values.iter().map(sign).collect()
}

#[test]
fn vectors_of_random_expressions_are_those_of_their_inputs() {
    let dir = folder();
    let cases = cases(63, 84);
    let modules = [module("a.c", &program(&cases), &["-O0", "-g"], dir.path())];
    let profile = run_and_profile(&modules, &[], 1, &[], dir.path());
    let found = decisions(&profile, "--mcdc");
    for (n, case) in cases.iter().enumerate() {
        let text = case.expression.text();
        let decision = &found[&(n as u64 + 3)];
        let shown = case.shown();
        let judged = judged(decision);
        if case.context >= VALUE {
            for (judged, shown) in judged.iter().zip(shown) {
                let expected = if shown { "shown" } else { "not-shown" };
                assert!(
                    [expected, "not-measured"].contains(judged),
                    "{text}: {decision}"
                );
            }
            continue;
        }
        let expected = shown.iter().map(|s| if *s { "shown" } else { "not-shown" });
        assert_eq!(judged, expected.collect::<Vec<_>>(), "{text}: {decision}");
        let vectors = decision["vectors"].as_array().unwrap().iter().map(|v| {
            let values = v["values"].as_str().unwrap().to_string();
            (
                (values, v["outcome"].as_bool().unwrap()),
                v["count"].as_u64().unwrap(),
            )
        });
        let vectors: BTreeMap<(String, bool), u64> = vectors.collect();
        let expected = case.vectors().into_iter();
        let expected = expected.map(|((values, outcome), n)| ((write_values(&values), outcome), n));
        assert_eq!(vectors, expected.collect(), "{text}");
    }
}

/// The conditions that clang shows of each decision, by the line that it begins at.
fn shown_by_clang(source: &str, dir: &Path) -> BTreeMap<u64, Vec<bool>> {
    let (file, exe) = (dir.join("clang.c"), dir.join("clang.exe"));
    std::fs::write(&file, source).unwrap();
    let flags = [
        "-O0",
        "-w",
        "-fprofile-instr-generate",
        "-fcoverage-mapping",
        "-fcoverage-mcdc",
    ];
    run(Command::new(llvm("clang"))
        .args(flags)
        .arg(&file)
        .arg("-o")
        .arg(&exe));
    let (raw, data) = (dir.join("clang.raw"), dir.join("clang.data"));
    run(Command::new(&exe).env("LLVM_PROFILE_FILE", &raw));
    run(Command::new(llvm("llvm-profdata"))
        .arg("merge")
        .arg(&raw)
        .arg("-o")
        .arg(&data));
    let mut export = Command::new(llvm("llvm-cov"));
    export
        .arg("export")
        .arg(&exe)
        .arg("-instr-profile")
        .arg(&data);
    let report = parsed(&run(&mut export).stdout);
    let functions = report["data"][0]["functions"].as_array().unwrap().iter();
    let records = functions
        .filter_map(|f| f["mcdc_records"].as_array())
        .flatten();
    let record = |r: &Value| {
        let shown = r
            .as_array()
            .unwrap()
            .iter()
            .find_map(Value::as_array)
            .unwrap();
        let shown = shown.iter().map(|s| s.as_bool().unwrap()).collect();
        (r[0].as_u64().unwrap(), shown)
    };
    records.map(record).collect()
}

#[test]
fn shown_conditions_are_those_of_clang() {
    let dir = folder();
    let cases = cases(1963, 119);
    let source = program(&cases);
    let modules = [module("a.c", &source, &["-O0", "-g"], dir.path())];
    let profile = run_and_profile(&modules, &[], 1, &[], dir.path());
    let (ours, clang) = (
        decisions(&profile, "--mcdc"),
        shown_by_clang(&source, dir.path()),
    );
    let mut compared = 0;
    for (n, case) in cases.iter().enumerate() {
        let (line, text) = (n as u64 + 3, case.expression.text());
        let Some(expected) = clang.get(&line) else {
            let is_known = case.context == MACRO || case.expression.nests_negation(true);
            assert!(is_known, "{line}: {text}");
            continue;
        };
        let judged = judged(&ours[&line]);
        assert_eq!(judged.len(), expected.len(), "{text}");
        // Of a negation that `?:` asks for, clang 19 records no vector at all.
        if case.context == CHOICE && matches!(case.expression, Expression::Not(_)) {
            assert!(expected.iter().all(|is_shown| !is_shown), "{text}");
            continue;
        }
        for (judged, is_shown) in judged.iter().zip(expected) {
            let expected = if *is_shown { "shown" } else { "not-shown" };
            let is_open = case.context >= VALUE && *judged == "not-measured";
            assert!(
                is_open || *judged == expected,
                "{line}: {text}: {}",
                ours[&line]
            );
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared}");
}

const PLACES: &str = "\
#define AND(x, y) ((x) && (y))
#define BIG(p) (p > 3 || p == 1)
static int f(int x) { return x; }
static int one(int a, int b, int c) {
    if (AND(a, b)) c++;
    if (BIG(c) && a) c++;
    if (f(a && b) || c) c++;
    int z = a && (b || c);
    z += ((a || b)) ? 1 : 2;
    if (1 && a && \"text\") z++;
    if ((a ? b : c) && z) z++;
    if (a && z || !a && c) z++;
    if (a && ({ while (c > 9) c--; b; })) z++;
    if ((a || b) && ({ while (c > 9) c--; c; })) z++;
    if (a && 0) z++;
    return z || (a && b);
}
int main(void) {
    int sum = 0;
    for (int i = 0; i < 12; i++) sum += one(i & 1, i >> 1 & 1, i);
    return sum < 0;
}
";

/// What is printed of the decisions of a function: macros, calls with decisions in them, constants, loops inside.
#[test]
fn decisions_are_found_wherever_they_stand() {
    let dir = folder();
    let modules = [module("a.c", PLACES, &["-O0", "-g"], dir.path())];
    let profile = run_and_profile(&modules, &[], 1, &[], dir.path());
    let print = |options: &[&str]| {
        let mut command = Command::new(PROF);
        command
            .arg("coverage")
            .arg(&profile)
            .args(["--nearest", "0", "--function", "^one$"]);
        let text = String::from_utf8(run(command.args(options)).stdout).unwrap();
        text.replace(dir.path().to_str().unwrap(), "DIR")
    };
    insta::assert_snapshot!(print(&["--mcdc"]));
    let masking = print(&["--mcdc=masking"]);
    assert!(masking.starts_with("MC/DC (masking): "), "{masking}");
}

#[test]
fn mcdc_is_a_measure_and_a_column() {
    let dir = folder();
    let modules = [module("a.c", PLACES, &["-O0", "-g"], dir.path())];
    let profile = run_and_profile(&modules, &[], 1, &[], dir.path());
    let print = |words: &[&str]| {
        let output = Command::new(PROF)
            .args(words)
            .arg(&profile)
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (status, said) = print(&[
        "coverage",
        "--mcdc",
        "--measure",
        "mcdc",
        "--fail-under",
        "99",
    ]);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("of conditions (MC/DC) are shown, less than --fail-under 99"),
        "{said}"
    );
    let (status, said) = print(&["coverage", "--measure", "mcdc"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("add --mcdc"), "{said}");
    let (_, csv) = print(&["coverage", "--mcdc", "--format", "csv"]);
    assert!(
        csv.lines()
            .next()
            .unwrap()
            .ends_with("shown_conditions,conditions"),
        "{csv}"
    );
    let (_, plain) = print(&["coverage", "--format", "csv"]);
    assert!(!plain.contains("conditions"), "{plain}");
    let (_, github) = print(&["coverage", "--mcdc", "--format", "github"]);
    assert!(
        github.contains("title=a condition that is not shown (MC/DC)::"),
        "{github}"
    );
    let (_, markdown) = print(&["coverage", "--mcdc", "--format", "markdown"]);
    assert!(markdown.contains("| mcdc |"), "{markdown}");
    let (status, said) = print(&["export", "--format", "callgrind", "--mcdc"]);
    assert_eq!(status, Some(2), "{said}");
}

/// lcov tells the groups of a line apart by their sizes.
#[test]
fn records_of_lcov_are_groups_of_their_lines() {
    let dir = folder();
    let source = "int main(int a, char **b) { return (a > 1 && b ? 2 : 3) + (b || a ? 1 : 0) \
                  + (a > 2 || b || a > 5 ? 1 : 0) > 99; }\n";
    let modules = [module("a.c", source, &["-O0", "-g"], dir.path())];
    let profile = run_and_profile(&modules, &[], 1, &[], dir.path());
    let mut command = Command::new(PROF);
    command
        .args(["export", "--format", "lcov", "--mcdc"])
        .arg(&profile);
    let text = String::from_utf8(run(&mut command).stdout).unwrap();
    let records: Vec<&str> = text
        .lines()
        .filter_map(|l| l.strip_prefix("MCDC:"))
        .collect();
    let sizes: BTreeSet<&str> = records
        .iter()
        .map(|r| r.split(',').nth(1).unwrap())
        .collect();
    assert_eq!(
        (records.len(), sizes),
        (14, BTreeSet::from(["7"])),
        "{text}"
    );
    assert!(text.contains("MCF:14\n"), "{text}");
    let plain = Command::new(PROF)
        .args(["export", "--format", "lcov"])
        .arg(&profile)
        .output();
    assert!(
        !String::from_utf8(plain.unwrap().stdout)
            .unwrap()
            .contains("MCDC")
    );
}

const TEMPLATE: &str = "\
template <class T> static int in(T x, T low, T high) {
    if (x >= low && x <= high) return 1;
    return 0;
}
struct Flag { int v; bool operator!() const { return v == 0; } bool count() const { return v != 0; } };
static int both(Flag a, Flag b) {
    if (!a && !b) return 1;
    return 0;
}
static int all(Flag a, Flag b) {
    if (a.count() && b.count()) return 1;
    return 0;
}
int main() {
    int n = in<int>(1, 2, 3) + in<int>(2, 2, 3) + in<long>(9, 2, 3);
    n += both({0}, {0}) + both({0}, {1}) + both({1}, {1});
    n += all({0}, {0}) + all({1}, {1}) + all({1}, {0});
    return n > 99;
}
";

/// Instances of a template are one decision of their file, and an operator that a program defines is told by where
/// control goes.
#[test]
fn instances_are_one_decision_and_operators_keep_their_sense() {
    let dir = folder();
    let modules = [module("a.cpp", TEMPLATE, &["-O0", "-g"], dir.path())];
    let profile = run_and_profile(&modules, &[], 1, &["-lstdc++"], dir.path());
    let found = decisions(&profile, "--mcdc");
    let vectors = |line: u64| {
        let vectors = found[&line]["vectors"].as_array().unwrap().iter();
        let vectors = vectors.map(|v| format!("{} {}", v["values"].as_str().unwrap(), v["count"]));
        vectors.collect::<Vec<_>>()
    };
    assert_eq!(vectors(2), ["F- 1", "TF 1", "TT 1"]);
    assert_eq!(judged(&found[&2]), ["shown", "shown"]);
    assert_eq!(vectors(7), ["FF 1", "FT 1", "T- 1"]);
    // What `count` is called looks like `operator!` to who searches symbols.
    assert_eq!(vectors(11), ["F- 1", "TF 1", "TT 1"]);
    let optimised = [module(
        "a.cpp",
        TEMPLATE,
        &["-O1", "-g"],
        &dir.path().join("o"),
    )];
    let profile = run_and_profile(&optimised, &[], 1, &["-lstdc++"], &dir.path().join("o"));
    for decision in decisions(&profile, "--mcdc").values() {
        assert_eq!(decision["not_measured"], "optimised code", "{decision}");
    }
}
