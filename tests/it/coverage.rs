//! `p3-prof coverage` of a change: against the profile of an earlier build, and of the lines of a patch.

use crate::support::text::{assert_line, assert_lines, in_dir};
use crate::support::{PROF, module, run_and_profile};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) const BEFORE: &str = "int classify(int n) {
    int r = 0;
    if (n > 10)
        r += 1;
    if (n % 2)
        r += 2;
    return r;
}
int parity(int n) { return n % 2 ? 1 : 0; }
int main(void) { return classify(NUMBER) + parity(NUMBER) < 0; }
";

/// The same program with a line more, another sum, and another control flow in `parity`.
pub(crate) fn after() -> String {
    BEFORE
        .replace("    if (n % 2)\n", "    // odd\n    if (n % 2)\n")
        .replace("r += 2", "r += 3")
        .replace("n % 2 ? 1 : 0", "n % 2 ? 1 : n > 5 ? 2 : 0")
}

/// From the one to the other, as git writes it, with files that are not compiled.
const PATCH: &str = "diff --git a/docs/a.md b/docs/a.md
index 1..2 100644
--- a/docs/a.md
+++ b/docs/a.md
@@ -3,2 +3 @@
-x
-y
+z
diff --git a/src/a.c b/src/a.c
index 1..2 100644
--- a/src/a.c
+++ b/src/a.c
@@ -2,8 +2,9 @@ int classify(int n) {
     int r = 0;
     if (n > 10)
         r += 1;
+    // odd
     if (n % 2)
-        r += 2;
+        r += 3;
     return r;
 }
-int parity(int n) { return n % 2 ? 1 : 0; }
+int parity(int n) { return n % 2 ? 1 : n > 5 ? 2 : 0; }
";

/// The profile of a program that classifies a number, compiled as `src/a.c`.
pub(crate) fn build(dir: &Path, name: &str, source: &str, number: u32) -> PathBuf {
    let number = format!("-DNUMBER={number}");
    build_with(&dir.join(name), source, &["-O0", &number])
}

fn build_with(dir: &Path, source: &str, flags: &[&str]) -> PathBuf {
    std::fs::create_dir_all(dir.join("src")).unwrap();
    let flags = [&["-g"], flags].concat();
    let modules = [module("src/a.c", source, &flags, dir)];
    let options = ["--scheme", "sbl"];
    run_and_profile(&modules, &options, 1, &[], dir)
}

/// Status and everything that is printed.
pub(crate) fn coverage(
    file: &Path,
    options: &[&str],
    input: Option<&Path>,
) -> (Option<i32>, String) {
    let mut command = Command::new(PROF);
    command.args(["coverage"]).arg(file).args(options);
    command.stdin(input.map_or(Stdio::null(), |f| std::fs::File::open(f).unwrap().into()));
    let output = command.output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(all).unwrap())
}

pub(crate) fn json(file: &Path, options: &[&str]) -> Value {
    let (_, text) = coverage(file, &[options, &["--format", "json"]].concat(), None);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn coverage_of_patch_lists_its_lines() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let patch = dir.join("p.diff");
    std::fs::write(&patch, PATCH).unwrap();
    let by = |options: &[&str]| {
        [&["--patch", patch.to_str().unwrap()], options]
            .concat()
            .join(" ")
    };
    let new = build(dir, "new", &after(), 5);
    // Two ways to the sum, of which 5 takes one; two through parity, likewise: `?` between numbers is no branch.
    let found = json(&new, &["--patch", patch.to_str().unwrap()]);
    let functions = found["functions"].as_array().unwrap();
    let numbers = |name: &str| {
        let f = functions.iter().find(|f| f["name"] == name)?;
        let text = |key: &str| f[key].to_string().replace('"', "");
        Some(["executed", "feasible", "executed_pairs", "pairs"].map(text))
    };
    let text = |numbers: [&str; 4]| Some(numbers.map(String::from));
    assert_eq!(numbers("classify"), text(["1", "2", "1", "1"]));
    assert_eq!(numbers("parity").unwrap()[..2], ["1", "2"]);
    assert_eq!(numbers("main"), None);
    let lines = &found["patch"];
    let expected = serde_json::json!({
        "lines": 3, "code": 2, "ran": 2, "other_files": ["docs/a.md"], "removals": 0,
        // `n > 5 ? 2 : 0` is a `select` at -O0, too.
        "branchless": ["a.c:10"]
    });
    assert_eq!(*lines, expected);
    assert_eq!(found["total"]["executed"], 2);
    let missing = functions.iter().find(|f| f["name"] == "classify").unwrap();
    let missing = missing["uncovered"].as_array().unwrap();
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0]["decisions"][0]["condition"], "n > 10");
    assert_eq!(missing[0]["decisions"][0]["to_line"], 4);

    let options = by(&["--fail-under", "60", "--format", "markdown"]);
    let options: Vec<&str> = options.split(' ').collect();
    let (status, said) = coverage(&new, &options, None);
    assert_eq!(status, Some(1), "{said}");
    // Two spaces end a line of markdown.
    let missing = "files that the program has no code of: docs/a.md  ";
    assert_line(&said, missing);
    assert_line(
        &said,
        "error: 50.00% of paths ran, less than --fail-under 60",
    );
    let (status, said) = coverage(&new, &["--patch", "-", "--fail-under", "50"], Some(&patch));
    assert_eq!(status, Some(0), "{said}");
    assert!(
        said.contains(
            "the patch adds or changes 3 lines: 2 with code, of which 2 ran; \
             other paths are left out here\n"
        ),
        "{said}"
    );
    // Of an even number no path through the sum ran.
    let even = build(dir, "even", &after(), 4);
    let (status, said) = coverage(
        &even,
        &["--patch", "-", "--function", "classify"],
        Some(&patch),
    );
    assert_eq!(status, Some(0), "{said}");
    let expected = [
        "lines  branches  pairs  paths  of  function: missing",
        "0.00%         –  0.00%      0   2  classify  a.c (none of them ran)",
        "    #2 not covered",
        "      3  n > 10  false",
        "      6  n % 2   true   → return",
        "      nearest: #3 ran once, with n % 2 false at 6",
    ];
    assert_lines(&said, &expected);
    // No file of it is the program's.
    let other = dir.join("other.diff");
    std::fs::write(&other, PATCH.replace("a.c", "zz.c")).unwrap();
    let (status, said) = coverage(&new, &["--patch", "-"], Some(&other));
    assert_eq!(status, Some(0), "{said}");
    let none = "the profile has no file of the patch: docs/a.md, src/zz.c (if it has them by other names, see\n\
                --path-map)\n";
    assert_eq!(said, none);
    // Nothing of a source is measured, which a job must not take for tested; of pages nothing can be.
    let judged = ["--patch", "-", "--fail-under", "60"];
    let (status, said) = coverage(&new, &judged, Some(&other));
    assert_eq!(status, Some(2), "{said}");
    let why = "--fail-under 60: the profile has no file of the patch (src/zz.c); name";
    assert!(said.contains(why), "{said}");
    let pages = dir.join("pages.diff");
    std::fs::write(&pages, PATCH.split("diff --git a/src").next().unwrap()).unwrap();
    let (status, said) = coverage(&new, &judged, Some(&pages));
    assert_eq!(status, Some(0), "{said}");
    let passes = "--fail-under 60: there are no paths to measure, so it passes";
    assert!(said.contains(passes), "{said}");
    // Nothing is touched; another program was compiled; that is no patch.
    let (status, said) = coverage(&new, &["--patch", "-", "--fail-under", "100"], None);
    assert_eq!(status, Some(0), "{said}");
    let old = build(dir, "old", BEFORE, 5);
    let (status, said) = coverage(&old, &["--patch", "-"], Some(&patch));
    let other_source = "error: -: it does not make line 5 of DIR/old/src/a.c what was compiled; profile the program \
                        that the patch makes, or take the patch against that one\n";
    assert_eq!((status, &*in_dir(&said, dir)), (Some(2), other_source));
    let (status, said) = coverage(&new, &["--patch", "-"], Some(&new));
    let no_patch = "error: -: not a unified diff: error parsing patches at byte 0: no valid patches found; give the \
                    output of git diff or diff -u\n";
    assert_eq!((status, &*said), (Some(2), no_patch));
    let (status, said) = coverage(&new, &["--patch", "missing.diff"], None);
    let no_file = "error: missing.diff: cannot read: No such file or directory (os error 2); check its name and \
                   permissions\n";
    assert_eq!((status, &*said), (Some(2), no_file));
}

/// Sources with counts, near the lines of a patch alone.
#[test]
fn annotate_with_patch_prints_its_lines() {
    let dir = crate::support::folder();
    let patch = dir.path().join("p.diff");
    std::fs::write(&patch, PATCH).unwrap();
    let new = build(dir.path(), "new", &after(), 4);
    let (status, said) = coverage(&new, &["--patch", "-", "--annotate"], Some(&patch));
    assert_eq!(status, Some(0), "{said}");
    let numbers = |said: &str| -> Vec<String> {
        let number = |l: &str| Some(l.get(10..)?.split_whitespace().next()?.to_string());
        let lines = said.lines().skip(1);
        lines
            .filter_map(number)
            .filter(|n| n.parse::<u32>().is_ok())
            .collect()
    };
    // Lines 5, 7 and 10 of the patch; the file begins before.
    let expected: Vec<String> = (3..=11).map(|n| n.to_string()).collect();
    assert_eq!(numbers(&said), expected, "{said}");
    let head = "DIR/new/src/a.c: 3 lines of the patch, and 2 around each";
    assert_line(&in_dir(&said, dir.path()), head);
    let (_, missing) = coverage(&new, &["--patch", "-", "--annotate=missing"], Some(&patch));
    assert_line(&missing, "              ↳ never true: n % 2");
    let (status, none) = coverage(&new, &["--patch", "-", "--annotate"], None);
    let expected = "error: DIR/new/out/merged.p3prof: no line is in scope; --all takes headers of the system; see \
                    --file and --exclude\n";
    assert_eq!((status, &*in_dir(&none, dir.path())), (Some(2), expected));
}

/// What is said of a selection is said once, in the report.
#[test]
fn selection_is_reported_once() {
    let dir = crate::support::folder();
    let modules = [module(
        "a.c",
        BEFORE,
        &["-g", "-O0", "-DNUMBER=4"],
        dir.path(),
    )];
    let options = ["--paths", "through=a.c:4"];
    let some = run_and_profile(&modules, &options, 1, &[], dir.path());
    let said = "only selected paths are counted (through=a.c:4)";
    for options in [
        &[][..],
        &["--format", "markdown"],
        &["--never-ran"],
        &["--measure", "lines"],
    ] {
        let (_, text) = coverage(&some, options, None);
        assert_eq!(text.matches(said).count(), 1, "{options:?}: {text}");
        assert!(!text.contains("of selected paths"), "{text}");
    }
    let mut show = Command::new(PROF);
    show.arg("show")
        .arg(&some)
        .args(["--function", "^classify$"]);
    let text = String::from_utf8(show.output().unwrap().stdout).unwrap();
    let expected = "0 paths executed, 0 distinct, in 0 of 1 function (p3-hot, 1 copy)\n\
                    0.00% of the 0 counted paths (0 distinct), 0.00% of the instructions on them\n\
                    only selected paths are counted (through=a.c:4); whether others ran is not known\n";
    assert_eq!(text, expected);
}

#[test]
fn against_an_earlier_build() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let odd = build(dir, "odd", BEFORE, 5);
    let even = build(dir, "even", &after(), 44);
    let base = |file: &Path| file.to_str().unwrap().to_string();
    let found = json(&even, &["--diff", &base(&odd)]);
    let path = |kind: &str| {
        let paths = found[kind].as_array().unwrap();
        assert_eq!(paths.len(), 1, "{found}");
        let ways = paths[0]["decisions"].as_array().unwrap();
        let ways = ways
            .iter()
            .map(|d| (d["line"].as_u64(), d["to_line"].as_u64()));
        (paths[0]["name"].as_str().unwrap(), ways.collect::<Vec<_>>())
    };
    // Told by the lines of now, those that ran before, too.
    let ways = |n: [u64; 4]| vec![(Some(n[0]), Some(n[1])), (Some(n[2]), Some(n[3]))];
    assert_eq!(path("gained"), ("classify", ways([3, 4, 6, 8])));
    assert_eq!(path("lost"), ("classify", ways([3, 6, 6, 7])));
    assert_eq!(
        (&found["in_both"], &found["changed"]),
        (&1.into(), &serde_json::json!(["parity"]))
    );
    let (status, said) = coverage(&even, &["--diff", &base(&odd)], None);
    assert_eq!(status, Some(0), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    for (heading, name) in [
        ("1 path ran only now", " classify "),
        ("1 path ran only in the earlier profile", " classify "),
        (
            "1 function with other control flow now, not compared",
            "  parity",
        ),
    ] {
        let at = lines.iter().position(|l| *l == heading);
        assert!(at.is_some_and(|at| lines[at + 1].contains(name)), "{said}");
    }
    assert_eq!(lines[0], "1 path ran in both");
    // The same number in another build: nothing but the function that is another.
    let again = build(dir, "again", &after(), 5);
    let found = json(&again, &["--diff", &base(&odd)]);
    let none = serde_json::json!([]);
    assert_eq!(
        (&found["gained"], &found["lost"], &found["in_both"]),
        (&none, &none, &2.into())
    );
    let (status, said) = coverage(&again, &["--diff", "x", "--patch", "y"], None);
    let both =
        "error: the argument '--diff <BASE>' cannot be used with '--patch <FILE>'; see --help\n";
    assert_eq!((status, &*said), (Some(2), both));
}

/// A function with an error that tests do not reach, and one that they need not reach at all.
const MARKED: &str = r#"int fails(void);
int twice(int n) {
  if (n < 0)
    return -1; // LCOV_EXCL_LINE
  if (n > 100) // GCOVR_EXCL_BR_LINE
    n = 100;
  return 2 * n;
}
int debug(int n) { // GCOVR_EXCL_FUNCTION
  return n ? 1 : 2;
}
int unlikely(int n) {
  if (n > 7)
    n++; // NOLINT
  return n;
}
int main(void) { return (twice(NUMBER) + unlikely(2) == 12) - 1; }
"#;

/// Markers leave paths, lines and branches out of every report of coverage, and are told.
#[test]
fn markers_leave_paths_out() {
    let dir = crate::support::folder();
    let profile = build(dir.path(), "marked", MARKED, 5);
    let numbers = |function: &str, options: &[&str]| -> Option<(u64, String)> {
        let found = json(&profile, options);
        let rows = found["functions"].as_array().unwrap().iter();
        let mut rows = rows.filter(|f| f["name"] == function);
        let row = rows.next()?;
        let feasible = row["feasible"].as_str().unwrap().to_string();
        Some((row["executed"].as_u64().unwrap(), feasible))
    };
    // Two ways of a number that is not negative; nothing of `debug`.
    assert_eq!(numbers("twice", &[]), Some((1, "2".into())));
    assert_eq!(numbers("debug", &[]), None);
    assert_eq!(numbers("unlikely", &[]), Some((1, "2".into())));
    let word = ["--exclude-marker", "NOLINT"];
    assert_eq!(numbers("unlikely", &word), Some((1, "1".into())));
    // One of twice, one of debug (`?` between numbers is no branch), and one of unlikely.
    for (options, excluded) in [(&[][..], 2), (&word[..], 3)] {
        let (_, said) = coverage(&profile, options, None);
        let line = format!("{excluded} paths excluded by markers\n");
        assert!(said.contains(&line), "{said}");
        assert_eq!(json(&profile, options)["excluded"], excluded.to_string());
        let (_, markdown) = coverage(
            &profile,
            &[options, &["--format", "markdown"]].concat(),
            None,
        );
        assert!(markdown.contains(&line), "{markdown}");
    }
    // What is left out is no path that did not run.
    let nearest = json(&profile, &["--function", "^twice$", "--nearest", "9"]);
    let uncovered = nearest["functions"][0]["uncovered"].as_array().unwrap();
    assert_eq!(uncovered.len(), 1, "{nearest}");
    for format in ["lcov", "cobertura"] {
        let mut export = Command::new(PROF);
        export
            .arg("export")
            .arg(&profile)
            .args(["--format", format]);
        let output = crate::support::run(export.args(word));
        let warned = String::from_utf8(output.stderr).unwrap();
        let told = "lines with code that markers exclude: 3";
        assert!(warned.contains(told), "{warned}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("debug"), "{text}");
        if format == "lcov" {
            for line in [4, 9, 10, 11, 14] {
                assert!(!text.contains(&format!("\nDA:{line},")), "{line}: {text}");
            }
            assert!(
                text.contains("\nDA:5,") && !text.contains("\nBRDA:5,"),
                "{text}"
            );
        }
    }
    let (status, said) = coverage(&profile, &["--exclude-marker", "NO-LINT"], None);
    let word = "error: invalid value 'NO-LINT' for '--exclude-marker <WORD>': give a word of letters, digits and _, \
                like NOLINT; see --help\n";
    assert_eq!((status, &*said), (Some(2), word));
}

/// Text that was made from a file by a generator is not quoted from that file by columns of the other.
#[test]
fn conditions_behind_line_directives_are_not_quoted() {
    let dir = crate::support::folder();
    let dir = dir.path();
    std::fs::create_dir_all(dir.join("of/src")).unwrap();
    std::fs::write(
        dir.join("of/gram.y"),
        "%{\nint n;\n%}\nrule A { if (n) n++; }\n",
    )
    .unwrap();
    let source = "#line 4 \"gram.y\"\n\
         int rule(int n) { if (n > NUMBER) return 1; return 2; }\n\
         #line 40 \"gram.y\"\n\
         int past(int n) { return n > 3 && rule(n); }\n\
         int main(int c, char **v) { return rule(c) - 2; }\n";
    let profile = build(dir, "of", source, 5);
    let mut show = Command::new(PROF);
    show.args(["show", "--function", "^rule$", "--source-dir"])
        .arg(dir.join("of"));
    let output = crate::support::run(show.arg(&profile));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_line(&text, "50.00%      1      1         2  rule  gram.y:4");
    // Neither of the file nor of what was made from it: where the path goes is said by line and column.
    assert_line(&text, "        4  → 4:45  → return");
    // Nor is anything told of lines that the file does not have: genhtml refuses them.
    let mut export = Command::new(PROF);
    export
        .args(["export", "--format", "lcov", "--source-dir"])
        .arg(dir.join("of"));
    let output = crate::support::run(export.arg(&profile));
    let text = String::from_utf8(output.stdout).unwrap();
    let of = |kinds: &[&str]| -> Vec<&str> {
        let lines = text.lines();
        lines
            .filter(|l| kinds.iter().any(|k| l.starts_with(k)))
            .collect()
    };
    assert_eq!(of(&["DA:"]), ["DA:4,1"], "{text}");
    assert_eq!(
        of(&["FN:", "FNDA:"]),
        ["FN:4,4,rule", "FNDA:1,rule"],
        "{text}"
    );
}

/// Several programs are one report: what they share is joined, and of a program that never ran nothing is covered.
#[test]
fn several_programs_are_one_report() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let even = dir.join("even/out/profile.p3prof");
    std::fs::rename(build(dir, "even", BEFORE, 4), &even).unwrap();
    std::fs::remove_file(build(dir, "odd", BEFORE, 15)).unwrap();
    // What it counted is not merged: it is no program that never ran.
    let (status, said) = coverage(dir, &[], None);
    assert_eq!(status, Some(2), "{said}");
    let unmerged = "error: DIR/odd/out: no merged profile yet: raw profiles are there, and are not merged; run `make \
                    -C DIR/odd/out merge` first\n";
    assert_eq!(in_dir(&said, dir), unmerged);
    std::fs::remove_dir_all(dir.join("odd/out/raw")).unwrap();
    let numbers = |found: &Value| {
        let total = |key: &str| found["total"][key].clone();
        (total("executed").as_u64().unwrap(), total("feasible"))
    };
    let (one, all) = numbers(&json(&even, &[]));
    // The other program has the same functions, in another module of that name and content.
    let mut command = Command::new(PROF);
    let found = crate::support::run(command.args(["coverage", "--format", "json"]).arg(dir));
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    let (both, feasible) = numbers(&found);
    assert_eq!(both, one, "{found}");
    let double = 2 * all.as_str().unwrap().parse::<u64>().unwrap();
    let feasible: u64 = feasible.as_str().unwrap().parse().unwrap();
    assert!((double / 2..=double).contains(&feasible), "{found}");
    let (status, said) = coverage(dir, &[], None);
    assert_eq!(status, Some(0), "{said}");
    let warnings: Vec<&str> = said
        .lines()
        .filter(|l| l.starts_with("warning: "))
        .collect();
    let never_ran = "warning: DIR/odd/out: it never ran, so all of it is uncovered";
    assert_eq!(in_dir(&warnings.join("\n"), dir), never_ran, "{said}");
    let (status, said) = coverage(&dir.join("even/src"), &[], None);
    let no_program = "error: DIR/even/src: no program of p3-rewrite is in this folder; name what `p3-rewrite build \
                      -o` was given, or a merged profile; a build that failed leaves no program, and its output says \
                      why\n";
    assert_eq!((status, &*in_dir(&said, dir)), (Some(2), no_program));
}

/// The headline says lines, branches, pairs, and paths near those that ran; one of them can be asked for and judged by
/// itself.
#[test]
fn headline_is_lines_first() {
    let dir = crate::support::folder();
    let profile = build(dir.path(), "headline", BEFORE, 4);
    let (_, said) = coverage(&profile, &[], None);
    let head = said.split("\n\n").next().unwrap().replace('\n', " ");
    // `n > 10` and `n % 2` are false: lines 4 and 6 are missing. One decision away from the path of classify are two of
    // four.
    let expected = "lines 7 of 9 (77.78%), branches 2 of 4 (50.00%), pairs of edges 5 of 12 (41.67%), paths near those \
                    that ran 3 of 5 (60.00%)";
    assert_eq!(head, expected, "{said}");
    let rows = [
        "77.78%    50.00%  41.67%      3   6  a.c: 4,6; branches 3,5",
        " 71.43%    50.00%   30.00%      1   4  classify  a.c: 4,6; branches 3,5",
    ];
    for row in rows {
        assert_line(&said, row);
    }
    let alone = coverage(&profile, &["--measure", "lines"], None);
    assert_eq!(alone, (Some(0), "lines 7 of 9 (77.78%)\n".into()));
    for (least, status) in [("78", 1), ("77", 0)] {
        let judged = ["--measure", "lines", "--fail-under", least];
        assert_eq!(coverage(&profile, &judged, None).0, Some(status));
    }
    let judged = ["--measure", "near", "--fail-under", "61"];
    let (_, said) = coverage(&profile, &judged, None);
    let why = "error: 60.00% of near paths ran, less than --fail-under 61\n";
    assert!(said.ends_with(why), "{said}");
    let found = json(&profile, &[]);
    assert_eq!(found["headline"]["lines"], serde_json::json!([7, 9]));
}

#[test]
fn coverage_of_program_without_lines_asks_for_debug_information() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = [module("a.c", BEFORE, &["-O0", "-DNUMBER=4"], dir)];
    let profile = run_and_profile(&modules, &["--scheme", "sbl"], 1, &[], dir);
    let remedy = "compile it with -g or -gline-tables-only\n";
    let (status, said) = coverage(&profile, &[], None);
    let why = "the program has no line numbers, so lines and branches are not known; ";
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains(&format!("{why}{remedy}")), "{said}");
    for options in [&["--annotate"][..], &["--file", "none"]] {
        let (status, said) = coverage(&profile, options, None);
        let why = format!("the program has no line numbers; {remedy}");
        assert!(status == Some(2) && said.ends_with(&why), "{said}");
    }
    let mut html = Command::new(PROF);
    html.arg("html")
        .arg(&profile)
        .arg("-o")
        .arg(dir.join("page"));
    let said = html.output().unwrap().stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    let why = "the page shows blocks (b0, b1, …) and no sources; ";
    assert!(said.ends_with(&format!("{why}{remedy}")), "{said}");
}

/// Lines and branches of each function add up to those of the file, in text, JSON and CSV.
#[test]
fn functions_have_lines_and_branches() {
    let dir = crate::support::folder();
    let profile = build(dir.path(), "functions", BEFORE, 4);
    let found = json(&profile, &[]);
    let sum = |key: &str, n: usize| -> u64 {
        let rows = found["functions"].as_array().unwrap().iter();
        rows.map(|f| f[key][n].as_u64().unwrap()).sum()
    };
    for key in ["lines", "branches"] {
        let all = [sum(key, 0), sum(key, 1)];
        assert_eq!(found["headline"][key], serde_json::json!(all), "{found:#}");
        assert_eq!(found["files"][0][key], serde_json::json!(all));
    }
    let classify = &found["functions"][0];
    assert_eq!(classify["name"], "classify");
    assert_eq!(classify["missing_lines"], serde_json::json!([4, 6]));
    assert_eq!(classify["missing_branches"], serde_json::json!([3, 5]));
    let (_, said) = coverage(&profile, &[], None);
    let row = said.lines().find(|l| l.contains("classify")).unwrap();
    let expected = " 71.43%    50.00%   30.00%      1   4  classify  a.c: 4,6; branches 3,5";
    assert_eq!(row, expected);
    let (_, csv) = coverage(&profile, &["--format", "csv"], None);
    assert!(
        csv.lines()
            .next()
            .unwrap()
            .ends_with(",executed_lines,lines,taken_branches,branches"),
        "{csv}"
    );
    let csv = in_dir(&csv, dir.path());
    assert_line(
        &csv,
        "a.bc,classify,DIR/functions/src/a.c,exact,1,4,3,10,5,7,2,4",
    );
    let (_, markdown) = coverage(&profile, &["--format", "markdown"], None);
    let row = "| DIR/functions/src/a.c | 77.78% | 50.00% | 41.67% | 3 | 6 |";
    assert_line(&in_dir(&markdown, dir.path()), row);
}

/// At every width no row of the tables is wider, and what is missing loses its end first.
#[test]
fn tables_keep_to_the_width() {
    let dir = crate::support::folder();
    let profile = build(dir.path(), "widths", BEFORE, 4);
    for width in ["60", "80"] {
        let (_, said) = coverage(&profile, &["--width", width], None);
        let limit = width.parse().unwrap();
        for line in said.lines() {
            assert!(line.chars().count() <= limit, "{width}: {line}");
        }
    }
}

/// Files are chosen by the names that the report prints, from the root or without folders, and by the compiler's.
#[test]
fn files_match_by_names_as_printed() {
    let dir = crate::support::folder();
    std::fs::create_dir_all(dir.path().join("src")).unwrap();
    let main = "int one(int n);\nint main(int n, char **v) { (void)v; return one(n) - 1; }\n";
    let one = "int one(int n) { return n ? 1 : 0; }\n";
    let modules = [("src/main.c", main), ("lib/one.c", one)];
    std::fs::create_dir_all(dir.path().join("lib")).unwrap();
    let modules = modules.map(|(name, text)| module(name, text, &["-O0", "-g"], dir.path()));
    let profile = run_and_profile(&modules, &["--scheme", "sbl"], 1, &[], dir.path());
    let files = |options: &[&str]| {
        let found = json(&profile, options);
        let files = found["files"].as_array().cloned().unwrap_or_default();
        let name = |f: &Value| {
            f["file"]
                .as_str()
                .unwrap()
                .rsplit('/')
                .next()
                .unwrap()
                .to_string()
        };
        files.iter().map(name).collect::<Vec<_>>()
    };
    let compiled = dir.path().join("lib/one.c");
    for pattern in ["^lib/one.c$", "^one.c$", compiled.to_str().unwrap()] {
        assert_eq!(files(&["--file", pattern]), ["one.c"], "{pattern}");
        assert_eq!(files(&["--exclude", pattern]), ["main.c"], "{pattern}");
    }
    let (_, text) = coverage(&profile, &["--file", "^lib/"], None);
    assert_line(&text, "100.00%         –  100.00%      1   1  lib/one.c");
    let left_out = "1 function of other files is left out by --file\n";
    assert!(text.ends_with(left_out), "{text}");
}

/// The source with executions: lines that did not run, outcomes that never came up, at any width.
#[test]
fn sources_are_annotated() {
    let dir = crate::support::folder();
    let profile = build(dir.path(), "annotated", BEFORE, 4);
    let (status, said) = coverage(&profile, &["--annotate"], None);
    let line = |n: usize| {
        said.lines()
            .position(|l| l.contains(BEFORE.lines().nth(n - 1).unwrap()))
    };
    let text = |n: usize| said.lines().nth(line(n).unwrap()).unwrap();
    assert_eq!(status, Some(0));
    assert!(
        said.lines()
            .next()
            .unwrap()
            .ends_with("a.c: lines 77.78%, branches 50.00%"),
        "{said}"
    );
    assert_eq!(
        text(4).split_whitespace().take(3).collect::<Vec<_>>(),
        ["never", "4", "r"]
    );
    assert_eq!(
        text(2).split_whitespace().take(3).collect::<Vec<_>>(),
        ["1", "2", "int"]
    );
    // Below the condition.
    let below = said.lines().nth(line(3).unwrap() + 1).unwrap();
    assert_eq!(below.trim(), "↳ never true: n > 10");
    let only = [
        "--annotate=missing",
        "--function",
        "^classify$",
        "--width",
        "40",
    ];
    let (_, said) = coverage(&profile, &only, None);
    // Of the lines below, one tells that they are there.
    let below = said
        .lines()
        .skip_while(|l| !l.ends_with("return r;"))
        .skip(1);
    let below: Vec<&str> = below.filter(|l| !l.is_empty()).collect();
    assert_eq!(below, ["       ⋯"], "{said}");
    assert!(
        said.lines().skip(1).all(|l| l.chars().count() <= 40),
        "{said}"
    );
    // Options of other reports are refused.
    let (status, said) = coverage(&profile, &["--annotate", "--fail-under", "5"], None);
    let both = "error: the argument '--annotate[=<LINES>]' cannot be used with '--fail-under <PERCENT>'; see --help\n";
    assert_eq!((status, &*said), (Some(2), both));
}

/// A program that never ran has no `0.00%` in its headline.
#[test]
fn headline_says_that_nothing_ran() {
    let dir = crate::support::folder();
    let source = "int never(int n) { return n > NUMBER ? 1 : 2; }\nint main(void) { return 0; }\n";
    let profile = build(dir.path(), "nothing", source, 4);
    let (_, said) = coverage(&profile, &["--function", "^never$"], None);
    let head = said.lines().next().unwrap();
    assert!(head.starts_with("nothing ran: 0 of 1 lines, "), "{said}");
    let (_, alone) = coverage(
        &profile,
        &["--function", "^never$", "--measure", "lines"],
        None,
    );
    assert_eq!(alone, "lines 0 of 1 (nothing ran)\n");
}

/// Nobody enters `shared`, but its code ran where it was inlined.
#[test]
fn functions_of_which_nothing_ran_are_listed() {
    let dir = crate::support::folder();
    let source = "volatile int kept;\nint never(int n) { return n > 5 ? 1 : 2; }\n\
                  int shared(int n) { kept = n; return 0; }\n\
                  int main(int n, char **v) { return shared(n); }\n";
    let profile = build_with(&dir.path().join("ran"), source, &["-O2"]);
    let (_, said) = coverage(&profile, &["--never-ran"], None);
    let expected =
        "1 of 3 functions never ran\n\nlines  paths  function\n    1      1  never  a.c:2\n";
    assert_eq!(said, expected);
    let (_, none) = coverage(&profile, &["--never-ran", "--function", "^main$"], None);
    assert_eq!(none, "0 of 1 function never ran\n");
    let (_, all) = coverage(&profile, &[], None);
    let line = "1 function never ran (--never-ran lists them)";
    assert!(all.contains(line), "{all}");
}

/// What belongs to a registry of crates or to a toolchain is not the project's to test.
#[test]
fn sources_of_registries_and_toolchains_are_left_out() {
    let dir = crate::support::folder();
    let mut source = "int main(void) { return 0; }\n".to_string();
    let foreign = [
        "/home/u/.cargo/registry/src/index-1/either-1.0/src/lib.rs",
        "/home/u/.cargo/git/checkouts/either-1/abc/src/lib.rs",
        "/rustc/0123abc/library/core/src/option.rs",
        "/opt/rust/lib/rustlib/src/rust/library/std/src/io.rs",
        "/usr/include/c++/14/vector",
    ];
    for (n, file) in foreign.iter().enumerate() {
        source += &format!("#line 1 \"{file}\"\nint foreign{n}(int n) {{ return n > 5; }}\n");
    }
    let profile = build_with(&dir.path().join("foreign"), &source, &["-O0"]);
    let functions = |options: &[&str]| {
        let report = json(&profile, options);
        let names = report["functions"].as_array().unwrap().iter();
        let names = names.map(|f| f["name"].as_str().unwrap().to_string());
        names.collect::<BTreeSet<_>>()
    };
    assert_eq!(functions(&[]), BTreeSet::from(["main".to_string()]));
    assert_eq!(functions(&["--all"]).len(), 1 + foreign.len());
}

/// GitHub shows ten warnings of a step: no more are printed, and how many are left out.
#[test]
fn annotations_are_as_many_as_github_shows() {
    let dir = crate::support::folder();
    let function = |i: u32| format!("int f{i}(int n) {{ return n > {i} ? f(n) : 2; }}\n");
    let functions: String = (0..15).map(function).collect();
    let calls: String = (0..15).map(|i| format!(" + f{i}(0)")).collect();
    let source = format!(
        "int f(int n) {{ return n; }}\n{functions}int main(void) {{ return (0{calls}) != 30; }}\n"
    );
    let profile = build_with(dir.path(), &source, &["-O0"]);
    let (_, text) = coverage(&profile, &["--format", "github"], None);
    assert_eq!(text.matches("::warning ").count(), 10, "{text}");
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("::notice title=6 more paths::"), "{text}");
}

/// Annotations and Cobertura name files from the repository, whatever folder of it a job works in.
#[test]
fn files_are_named_from_the_repository() {
    let dir = crate::support::folder();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join(".git")).unwrap();
    std::fs::create_dir_all(root.join("ci")).unwrap();
    let profile = build(&root, "repository", BEFORE, 4);
    for (command, options, expected) in [
        (
            "coverage",
            &["--format", "github", "--function", "classify"][..],
            "file=repository/src/a.c,",
        ),
        (
            "coverage",
            &["--format", "markdown"],
            "| repository/src/a.c |",
        ),
        (
            "export",
            &["--format", "cobertura"],
            "filename=\"repository/src/a.c\"",
        ),
    ] {
        let mut prof = Command::new(PROF);
        prof.arg(command).arg(&profile).args(options);
        let output = crate::support::run(prof.current_dir(root.join("ci")));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(expected), "{text}");
    }
}

/// Eight decisions in turn, of which a patch changes the one in the middle; it is only ever true.
const DECISIONS: &str = "int f(int a, int b, int c) {
    int r = 0;
    if (a) r++;
    if (b) r += 2;
    if (a + b) r += 4;
    if (c > 3) r += 8;
    if (b + c) r += 16;
    if (a - c) r += 32;
    if (a * c) r += 64;
    if (b * c) r += 128;
    return r;
}
int main(void) {
    int sum = 0;
    for (int i = 0; i < 4; i++) sum += f(i & 1, i >> 1, NUMBER);
    return sum < 0;
}
";

const CHANGED_DECISION: &str = "--- a/src/a.c
+++ b/src/a.c
@@ -5,3 +5,3 @@
     if (a + b) r += 4;
-    if (c > 2) r += 8;
+    if (c > 3) r += 8;
     if (b + c) r += 16;
";

/// The first path has the outcome of the patch's condition that never came up, and shows it; lines and branches are
/// those of the patch in every format.
#[test]
fn patch_lists_outcome_that_never_came_up_first() {
    let dir = crate::support::folder();
    let patch = dir.path().join("p.diff");
    std::fs::write(&patch, CHANGED_DECISION).unwrap();
    let file = build(dir.path(), "decisions", DECISIONS, 7);
    let by = ["--patch", patch.to_str().unwrap()];
    let found = json(&file, &by);
    let first = &found["functions"][0]["uncovered"][0];
    let decisions = first["decisions"].as_array().unwrap();
    let decision = decisions
        .iter()
        .find(|d| d["condition"] == "c > 3")
        .unwrap();
    assert_eq!(decision["outcome"], "false", "{first}");
    assert_eq!(found["headline"]["branches"], serde_json::json!([1, 2]));
    assert_eq!(found["headline"]["lines"], serde_json::json!([1, 1]));
    assert_eq!(found["files"][0]["branches"], serde_json::json!([1, 2]));
    let (_, text) = coverage(&file, &by, None);
    let path = text.split(" not covered").nth(1).unwrap();
    let shown = path.lines().find(|line| line.contains("c > 3")).unwrap();
    assert!(shown.trim_end().ends_with("false"), "{text}");
    assert_line(
        &text,
        "100.00%    50.00%  60.00%      4  256  f  a.c: branches 6",
    );
    let (_, markdown) = coverage(&file, &[&by[..], &["--format", "markdown"]].concat(), None);
    let row = "| DIR/decisions/src/a.c | 100.00% | 50.00% | 60.00% | 4 | 256 |";
    assert_line(&in_dir(&markdown, dir.path()), row);
    let judged = [&by[..], &["--measure", "branches", "--fail-under", "60"]].concat();
    let (status, said) = coverage(&file, &judged, None);
    assert_eq!(status, Some(1), "{said}");
    assert_line(
        &said,
        "error: 50.00% of branches ran, less than --fail-under 60",
    );
}

/// Joined by the optimiser, a condition is on no path: full coverage of its line says nothing about it.
#[test]
fn patch_names_lines_with_conditions_without_a_branch() {
    let dir = crate::support::folder();
    let patch = dir.path().join("p.diff");
    let diff = "--- a/src/a.c\n+++ b/src/a.c\n@@ -1,3 +1,3 @@\n int f(int a, int b) {\n-    return a > 2;\n\
                +    return a > 2 || b > 7;\n }\n";
    std::fs::write(&patch, diff).unwrap();
    let source = "int f(int a, int b) {\n    return a > 2 || b > 7;\n}\n\
                  int main(int argc, char **argv) { return f(argc, argc) + f(3, 3) > 9; }\n";
    let said = |level: &str| {
        let file = build_with(&dir.path().join(level), source, &[level, "-fno-inline"]);
        let by = ["--patch", patch.to_str().unwrap()];
        (
            coverage(&file, &by, None).1,
            json(&file, &by)["patch"]["branchless"].clone(),
        )
    };
    let (text, places) = said("-O1");
    let became = [
        "conditions on these lines that became values and not branches, so no number here shows their",
        "outcomes (-O0 has fewest): a.c:2",
    ];
    assert_lines(&text, &became);
    assert_eq!(places, serde_json::json!(["a.c:2"]));
    let (text, places) = said("-O0");
    let patch = "the patch adds or changes 1 line: 1 with code, of which 1 ran; other paths are left out here";
    assert_eq!(text.lines().last(), Some(patch), "{text}");
    assert_eq!(places, serde_json::json!([]));
}

/// Lines of a diff cannot be found in a program that was compiled from other sources.
#[test]
fn patch_of_source_that_changed_since_is_refused() {
    let dir = crate::support::folder();
    let patch = dir.path().join("p.diff");
    std::fs::write(&patch, CHANGED_DECISION).unwrap();
    let file = build(dir.path(), "stale", &DECISIONS.replace("c > 3", "c > 2"), 7);
    std::fs::write(dir.path().join("stale/src/a.c"), DECISIONS).unwrap();
    let (status, said) = coverage(&file, &["--patch", patch.to_str().unwrap()], None);
    let expected = "error: DIR/p.diff: DIR/stale/src/a.c has changed since it was compiled, so the lines of the diff \
                    cannot be matched; build and run the program again, or name a folder with the sources as they \
                    were by --source-dir\n";
    assert_eq!((status, &*in_dir(&said, dir.path())), (Some(2), expected));
}

/// Shared libraries that were built beside a program have profiles of their own, and a report of the program says so.
#[test]
fn report_of_program_names_its_libraries() {
    let dir = crate::support::folder();
    let merged = build(dir.path(), "built", BEFORE, 4);
    let program = |name: &str| {
        let folder = dir.path().join("p3").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("record.json"), "{}").unwrap();
        std::fs::copy(&merged, folder.join("profile.p3prof")).unwrap();
        folder.join("profile.p3prof")
    };
    let prog = program("prog.p3");
    let none = coverage(&prog, &[], None).1;
    let library = program("libx.so.1.p3");
    let said = format!(
        "shared libraries are not in the report: {}; p3-prof union joins profiles",
        library.display()
    );
    // Nothing else is new.
    let one = coverage(&prog, &[], None).1;
    assert_eq!(one, format!("{none}warning: {}: {said}\n", prog.display()));
    program("liby.so.p3");
    let mut html = Command::new(PROF);
    html.arg("html")
        .arg(&prog)
        .arg("-o")
        .arg(dir.path().join("page"));
    let two = String::from_utf8(html.output().unwrap().stderr).unwrap();
    let expected = "warning: DIR/p3/prog.p3/profile.p3prof: shared libraries are not in the page: \
                    DIR/p3/libx.so.1.p3/profile.p3prof and 1 more library; p3-prof union joins profiles\n";
    assert_eq!(in_dir(&two, dir.path()), expected);
}

/// One header under two names, by two modules: it is one file, and a line of a patch in it one line.
#[test]
fn patches_of_files_with_several_names() {
    let dir = crate::support::folder();
    let (src, tests) = (dir.path().join("src"), dir.path().join("tests"));
    let header = "static int f(int n) {\n    if (n > 4)\n        return 1;\n    return 0;\n}\n";
    std::fs::create_dir_all(&src).unwrap();
    std::fs::write(src.join("h.h"), header).unwrap();
    let a = "#include \"h.h\"\nint a(int n) { return f(n); }\n";
    let t = "#include \"../src/h.h\"\nint a(int);\nint main(void) { return f(9) - a(9); }\n";
    let flags = ["-O0", "-g"];
    let modules = [
        module("a.c", a, &flags, &src),
        module("t.c", t, &flags, &tests),
    ];
    let diff = "--- a/src/h.h\n+++ b/src/h.h\n@@ -1,5 +1,5 @@\n static int f(int n) {\n-    if (n > 3)\n+    if (n > \
                4)\n         return 1;\n     return 0;\n }\n";
    let patch = dir.path().join("change.diff");
    std::fs::write(&patch, diff).unwrap();
    let patch = patch.to_str().unwrap();
    let profile = run_and_profile(&modules, &["--patch", patch], 1, &["-O0"], dir.path());
    let options = ["--patch", patch, "--format", "json"];
    let (_, said) = coverage(&profile, &options, None);
    let said = said.lines().find(|l| l.starts_with('{')).unwrap();
    let said: Value = serde_json::from_str(said).unwrap();
    assert_eq!(said["patch"]["lines"], 1, "{said}");
    assert_eq!(said["functions"].as_array().unwrap().len(), 2, "{said}");
}

/// Twelve files in one module: `f0.c` never runs, in `f11.c` nothing is missing, and in the others as many lines as
/// their number says.
fn twelve_files() -> String {
    let mut text = String::from("static volatile int no;\n");
    for file in 0..12 {
        text += &format!("#line 1 \"f{file}.c\"\nstatic int f{file}(int n) {{\n  int r = n;\n");
        if file < 11 {
            text += "  if (no) {\n";
            text += &"    r += no;\n".repeat(file);
            text += "  }\n";
        }
        text += "  return r;\n}\n";
    }
    text +=
        "#line 1 \"main.c\"\nint main(int argc, char **argv) {\n  int s = argc > 9 ? f0(1) : 0;\n";
    for file in 1..12 {
        text += &format!("  s += f{file}({file});\n");
    }
    text + "  return s == 0;\n}\n"
}

/// Files of which most is missing first, those that never ran last; ten of them unless all are asked for.
#[test]
fn files_are_in_the_order_of_what_is_missing() {
    let dir = crate::support::folder();
    let profile = build_with(dir.path(), &twelve_files(), &["-O0"]);
    let files = |options: &[&str]| -> (Vec<String>, String) {
        let mut coverage = Command::new(PROF);
        let printed = coverage
            .arg("coverage")
            .arg(&profile)
            .args(options)
            .output();
        let text = String::from_utf8(printed.unwrap().stdout).unwrap();
        let rows = text.split("file: missing\n").nth(1).unwrap();
        let rows = rows.split("\n\n").next().unwrap();
        let name = |row: &str| {
            let mut words = row.split([' ', ':']);
            words.find(|w| w.ends_with(".c")).map(String::from)
        };
        (rows.lines().filter_map(name).collect(), text)
    };
    let mut order: Vec<String> = (1..11).rev().map(|n| format!("f{n}.c")).collect();
    let (listed, text) = files(&[]);
    assert_eq!(listed.len(), 10, "{text}");
    assert_eq!(listed[..8], order[..8], "{text}");
    assert_line(&text, "… and 3 more files, 1 of which never ran (--full)");
    let (all, text) = files(&["--full"]);
    assert!(!text.contains("more files"), "{text}");
    assert_eq!((all.len(), all.last().unwrap().as_str()), (13, "f0.c"));
    order.truncate(8);
    assert!(all.starts_with(&order), "{all:?}");
}
