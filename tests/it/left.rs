//! Functions that are left before their end: what is counted of them, what is said, and what is not claimed.

use crate::support::text::{assert_line, in_dir};
use crate::support::{
    PROF, copy_modules, execute, link, merge, module, rewrite, run_and_profile, runtime,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags that keep a block for each line.
const FLAGS: &[&str] = &["-O0", "-Xclang", "-disable-O0-optnone", "-g"];

/// `main` is left by `exit` two calls below it. The numbers in comments are the lines.
const SOURCE: &str = r#"#include <stdlib.h>
#include <stdio.h>
static int check(int i) {
    if (i > 5)
        exit(3);                 /* 5 */
    return i;                    /* 6 */
}
static int work(int n) {
    int sum = 0;                 /* 9 */
    for (int i = 0; i < n; i++)
        sum += check(i);         /* 11 */
    return sum;                  /* 12 */
}
int main(int argc, char **argv) {
    int n = 20;                  /* 15 */
    if (argc > 1)
        n = 4;                   /* 17 */
    if (work(n) > 10)            /* 18 */
        puts("not here");        /* 19 */
    return 0;                    /* 20 */
}
"#;

/// The merged profile of a run of [`SOURCE`] in `dir/NAME`.
fn profiled(options: &[&str], name: &str, dir: &Path) -> PathBuf {
    profile_source(SOURCE, options, &dir.join(name))
}

/// The merged profile of a run of a program in `out`.
fn profile_source(source: &str, options: &[&str], out: &Path) -> PathBuf {
    profile_file("left.c", source, options, out)
}

/// The same of a source file with this name, in the language of its extension.
fn profile_file(name: &str, source: &str, options: &[&str], out: &Path) -> PathBuf {
    let modules = [module(name, source, FLAGS, &out.with_extension("input"))];
    rewrite(&modules, &[options, &["-k", "1"]].concat(), out);
    let exe = out.join("left.exe");
    link(&copy_modules(&modules, out, 0), runtime(), &["-O0"], &exe);
    execute(&exe, out);
    merge(out)
}

fn prof(arguments: &[&str], files: &[&Path]) -> (Option<i32>, String) {
    let mut command = Command::new(PROF);
    let output = command.args(arguments).args(files).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// The lines of a tracefile with their counts.
fn lines(profile: &Path) -> BTreeMap<u32, u64> {
    let (status, text) = prof(&["export", "--format", "lcov"], &[profile]);
    assert_eq!(status, Some(0), "{text}");
    let line = |l: &str| {
        let (line, n) = l.strip_prefix("DA:")?.split_once(',')?;
        Some((line.parse().ok()?, n.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn lines_of_functions_that_were_left() {
    let dir = crate::support::folder();
    let profile = profiled(&["--scheme", "sbl"], "sbl", dir.path());
    let lines = lines(&profile);
    let of = |line: u32| lines.get(&line).copied();
    // On every way to the call that did not return.
    assert_eq!((of(15), of(18)), (Some(1), Some(1)));
    // On some way, or beyond a call that may have been the one: not claimed.
    assert_eq!((of(17), of(19)), (None, None));
    // Beyond every call that may have been.
    assert_eq!(of(20), Some(0));
    assert_eq!((of(9), of(11), of(12)), (Some(1), Some(7), Some(0)));
    assert_eq!((of(5), of(6)), (Some(1), Some(6)));
    let (_, shown) = prof(&["show"], &[&profile]);
    let left = "left before its end (exit, longjmp, an exception), on paths that are not counted: main 1, work 1";
    assert!(shown.contains(left), "{shown}");
    let (_, shown) = prof(
        &["show", "--format", "json", "--function", "^main$"],
        &[&profile],
    );
    assert!(shown.contains(r#""abandoned":1"#), "{shown}");
    let (_, shown) = prof(&["show", "--edges", "--function", "^main$"], &[&profile]);
    assert_line(&shown, "main  left.c:14: entered 1, left before its end: 1");
    assert_line(&shown, "  b1 left.c:17: 0 to 1");
    let csv = ["show", "--edges", "--format", "csv", "--function", "^main$"];
    let (_, shown) = prof(&csv, &[&profile]);
    let shown = in_dir(&shown, dir.path());
    let file = "DIR/sbl.input/left.c";
    assert_line(
        &shown,
        &format!("left.bc,main,0,0,1,0,0,1,{file},16,{file},17"),
    );
}

/// What the edges leave open is claimed by no export: neither that it ran nor that it did not.
#[test]
fn lines_that_may_not_have_run_are_not_claimed() {
    let dir = crate::support::folder();
    let edges = profiled(&["--scheme", "edge"], "edge", dir.path());
    let lines = lines(&edges);
    for line in [12, 17, 19, 20] {
        assert!(
            lines.get(&line).is_none_or(|n| *n == 0),
            "{line}: {lines:?}"
        );
    }
    for line in [4, 9, 11, 15] {
        assert!(lines.get(&line).is_none_or(|n| *n > 0), "{line}: {lines:?}");
    }
    let (_, shown) = prof(&["show", "--edges"], &[&edges]);
    assert_line(&shown, "  b1 left.c:17: 0 to 1");
    let (_, xml) = prof(&["export", "--format", "cobertura"], &[&edges]);
    for line in [12, 17, 19, 20] {
        assert!(
            !xml.contains(&format!("<line number=\"{line}\" hits=\"1\"")),
            "{xml}"
        );
    }
}

/// Control never came to `after`, whose code is in the block that the call before it left.
const INLINED: &str = "#include <stdlib.h>
__attribute__((always_inline)) static inline int after(int n) {
    return n + 1;
}
void leave(int n) {
    if (n)
        exit(0);
}
int main(int argc, char **argv) {
    leave(argc);
    return after(argc);
}
";

#[test]
fn inlined_code_behind_a_call_that_did_not_return_is_not_entered() {
    let dir = crate::support::folder();
    let out = dir.path().join("inlined");
    let profile = profile_source(INLINED, &["--scheme", "sbl"], &out);
    let (_, text) = prof(&["export", "--format", "lcov"], &[&profile]);
    assert_line(&text, "FNDA:0,after");
    let lines = lines(&profile);
    assert_eq!(
        (lines.get(&3), lines.get(&11)),
        (Some(&0), Some(&0)),
        "{text}"
    );
}

/// Code that was inlined where nobody knows whether it ran, and elsewhere, where it did not, is not said to have never
/// run.
#[test]
fn inlined_code_that_may_have_run_is_not_claimed() {
    let dir = crate::support::folder();
    let source = "#include <stdlib.h>
static volatile int z;
__attribute__((noinline)) void leave(int n) {
    if (n == 1)
        exit(0);
}
static inline __attribute__((always_inline)) int copied(int x) {
    z = x;
    return z;
}
__attribute__((noinline)) void never(int n) {
    z = copied(n);
}
__attribute__((noinline)) void maybe(int n) {
    if (n & 1) {
        z = copied(n);
        leave(n);
    } else {
        leave(n);
    }
}
int main(int argc, char **argv) {
    if (argc > 3)
        never(1);
    maybe(argc);
    return 0;
}
";
    let profile = profile_source(source, &["--scheme", "sbl"], &dir.path().join("out"));
    let lines = lines(&profile);
    assert_eq!(
        [8, 9, 12].map(|n| lines.get(&n)),
        [None, None, Some(&0)],
        "{lines:?}"
    );
    let (_, text) = prof(&["export", "--format", "lcov"], &[&profile]);
    assert!(!text.contains("FNDA:0,copied"), "{text}");
}

/// clang gives a `throw` that ran once, or a `}` that control never came to, the code that cleans up for exceptions and
/// passes them on.
#[test]
fn code_that_passes_exceptions_on_is_on_no_line() {
    // The numbers in comments are the lines.
    let source = r#"#include <stdexcept>
static int destroyed;
struct S { int *n; S(int *p) : n(p) {} ~S() { ++*n; } };
int down(int n) {
    if (n > 20)
        throw std::runtime_error("too deep");    // 6
    S s(&destroyed);
    int r = n;                                   // 8
    if (n < 100)
        r = down(n + 1);                         // 10
    return r;                                    // 11
}
int *once(int *p) {
    static S s(p);
    return s.n;                                  // 15
}                                                // 16
int main() {
    int sum = *once(&destroyed);
    try { sum += down(0); } catch (...) { sum += 100; }
    return sum != 100;                           // 20
}
"#;
    let dir = crate::support::folder();
    let out = dir.path().join("out");
    let profile = profile_file("left.cpp", source, &["--scheme", "sbl"], &out);
    let lines = lines(&profile);
    let of = |line: u32| lines.get(&line).copied();
    let expected = [Some(1), Some(21), Some(21), Some(0), Some(1), None, Some(1)];
    assert_eq!([6, 8, 10, 11, 15, 16, 20].map(of), expected, "{lines:?}");
}

/// What exceptions leave open is marked: by a sign in sources, and by a comment in lcov's files.
#[test]
fn counts_that_are_not_certain_are_marked() {
    let dir = crate::support::folder();
    let source = "#include <stdlib.h>
int down(int n) {
    if (n > 20)
        exit(0);
    int r = n;
    if (n < 100)
        r = down(n + 1);
    return r;
}
int main(void) {
    return down(0) && down(1);
}
";
    let out = dir.path().join("out");
    let profile = profile_source(source, &["--scheme", "sbl"], &out);
    let (_, text) = prof(&["export", "--format", "lcov"], &[&profile]);
    let left = "# down: control left it before its end: counts are not certain\n";
    assert!(text.contains(left), "{text}");
    let input = out.with_extension("input");
    let annotate = [
        "coverage",
        "--annotate",
        "--source-dir",
        input.to_str().unwrap(),
    ];
    let (_, text) = prof(&annotate, &[&profile]);
    assert_line(&text, "     ≥ 1   4          exit(0);");
}

/// Edges and paths of one run agree within what is not known; those of another do not.
#[test]
fn edges_and_paths_agree() {
    let dir = crate::support::folder();
    let paths = profiled(&["--scheme", "sbl"], "sbl", dir.path());
    let edges = profiled(&["--scheme", "edge"], "edge", dir.path());
    let (status, said) = prof(&["compare"], &[&paths, &edges]);
    assert_eq!(status, Some(0), "{said}");
    let explained = " within bounds: it was left before its end once";
    assert!(said.lines().all(|l| l.contains(explained)), "{said}");
    let (status, said) = prof(&["verify"], &[&edges]);
    assert_eq!(status, Some(0), "{said}");
    // Once more: everything twice.
    execute(&dir.path().join("edge/left.exe"), &dir.path().join("edge"));
    let twice = merge(&dir.path().join("edge"));
    let (status, said) = prof(&["compare"], &[&paths, &twice]);
    assert_eq!(status, Some(1), "{said}");
    assert_line(&said, "main, entries: 1 against 2");
}

/// Functions that one `exit` leaves: notes name three, in short, and what lists all.
#[test]
fn notes_name_three_functions_in_short() {
    let dir = crate::support::folder();
    let source = "#include <cstdlib>
namespace deep { namespace er {
struct A { static void a(int n) { if (n) exit(0); } };
struct B { static void b(int n) { A::a(n); } };
struct C { static void c(int n) { B::b(n); } };
struct D { static void d(int n) { C::c(n); } };
} }
int main(int argc, char **) { deep::er::D::d(argc); return 0; }
";
    let modules = [module("left.cpp", source, FLAGS, dir.path())];
    let profile = run_and_profile(&modules, &["--scheme", "sbl"], 1, &[], dir.path());
    let shown = "on paths that are not counted: main 1, D::d 1, C::c 1 and 1 more function (--full lists all) ";
    let verified = "4 functions left before their end, by exit, longjmp, an exception or the end: main once, D::d \
                    once, C::c once and 1 more (--full lists all) 5 functions checked, 0 violations ";
    for (command, note) in [("show", shown), ("verify", verified)] {
        let (status, said) = prof(&[command], &[&profile]);
        assert_eq!(status, Some(0), "{said}");
        let said = said.replace('\n', " ");
        assert!(said.contains(note), "{said}");
        let (_, full) = prof(&[command, "--full"], &[&profile]);
        for name in ["er::B::b(int)", "er::C::c(int)", "er::D::d(int)", "main"] {
            assert!(full.contains(name), "{name}: {full}");
        }
        assert!(!full.contains("lists all"), "{full}");
    }
}

/// Why and where functions are not exact.
#[test]
fn cut_and_skipped() {
    let dir = crate::support::folder();
    let (modules, expected) = crate::support::original("many_paths", FLAGS, &["-O1"], dir.path());
    let out = dir.path().join("out");
    let options = ["--exclude", "^twenty$"];
    let profile = crate::support::profile(&modules, &options, 2, &["-O1"], &expected, &out);
    let (_, shown) = prof(&["show", "--top", "1"], &[&profile]);
    let cut = regex::Regex::new(
        "hundred: more than 2\\^62 paths, so they also end at (\\d+) cut edges?: \
        many_paths.c:\\d+(, \\d+){0,4}( and \\d+ more places)?\n",
    );
    assert!(cut.unwrap().is_match(&shown), "{shown}");
    let skipped = "twenty (many_paths.c:9): skipped: left out by --include/--exclude\n";
    assert!(shown.contains(skipped), "{shown}");
    let json = ["show", "--format", "json", "--function", "^hundred$"];
    let (_, shown) = prof(&json, &[&profile]);
    assert!(shown.contains(r#""cuts":[{"block":"#), "{shown}");
}

/// Of a program of which most is excluded, one line says so; of other functions, a few are named.
#[test]
fn many_functions_that_are_excluded_are_one_line() {
    let function = |attribute: &str, i: u32| {
        format!(
            "__attribute__((noinline, {attribute})) int f{i}(int n) {{ return n > {i} ? n - {i} : n; }}\n"
        )
    };
    let excluded = (0..30).map(|i| function("used", i));
    let naked = (30..37).map(|i| function("no_profile_instrument_function", i));
    let main = "int main(int n, char **v) { return f0(n) + f30(n) != 2; }\n";
    let source: String = excluded.chain(naked).chain([main.into()]).collect();
    let dir = crate::support::folder();
    let modules = [module("a.c", &source, FLAGS, dir.path())];
    let options = ["--include", "main"];
    let profile = run_and_profile(&modules, &options, 1, &[], dir.path());
    let (_, shown) = prof(&["show"], &[&profile]);
    let lines = shown.lines().skip(1);
    let skipped: Vec<&str> = lines.filter(|l| l.contains("skipped")).collect();
    let named = |i: u32| format!("f{i} (a.c:{}): skipped: attribute noprofile", i + 1);
    let mut said: Vec<String> = (30..33).map(named).collect();
    said.push("… and 4 more functions cut or skipped (--full lists all)".into());
    said.push(
        "30 functions are skipped: left out by --include/--exclude (--full lists them)".into(),
    );
    assert_eq!(skipped, said, "{shown}");
    let (_, shown) = prof(&["show", "--full"], &[&profile]);
    assert_eq!(
        shown
            .matches(": skipped: left out by --include/--exclude")
            .count(),
        30,
        "{shown}"
    );
    assert_eq!(
        shown.matches(": skipped: attribute noprofile").count(),
        7,
        "{shown}"
    );
}

/// What ran before `setjmp` may be counted twice, so numbers of calls are said to be no more than that; entries are
/// known.
#[test]
fn calls_of_functions_that_return_twice() {
    let source = "#include <setjmp.h>
        static jmp_buf again;
        __attribute__((noinline)) int work(int n) {
            if (setjmp(again)) return 1;
            if (n > 0) longjmp(again, 1);
            return 0;
        }
        int main(int n, char **v) { return work(n) != 1; }";
    let dir = crate::support::folder();
    let modules = [module("a.c", source, FLAGS, dir.path())];
    let profile = run_and_profile(&modules, &[], 1, &[], dir.path());
    let (_, shown) = prof(&["show", "--by", "function"], &[&profile]);
    let row = shown.lines().find(|l| l.contains("  work  ")).unwrap();
    assert_eq!(row.split_whitespace().nth(1), Some("1"), "{shown}");
    let told = "3 calls left for code that was not profiled (those before a setjmp that returned";
    assert!(shown.contains(told), "{shown}");
}

/// Control may leave one block in each of several calls. What stands behind the last one ran as often as control came
/// to the block's end, and what stands in front of the first one as often as it came to the block.
#[test]
fn lines_of_blocks_that_were_left() {
    let dir = crate::support::folder();
    // The numbers in comments are the lines.
    let source = r#"#include <stdlib.h>
int fine(int i) { return i + 1; }
void *other(void *p) { return p; }
void *(*pointer)(void *) = other;
int last(int i) { if (i > 2) exit(3); return i; }
int one(int i) {
    int sum = fine(i);           /* 7 */
    sum += last(i);              /* 8 */
    return sum;                  /* 9 */
}
int two(int i) {
    int sum = fine(i);           /* 12 */
    pointer(&sum);               /* 13 */
    sum += 1;                    /* 14 */
    sum += one(i);               /* 15 */
    return sum;                  /* 16 */
}
int main(void) {
    int sum = 0;                 /* 19 */
    sum += two(1);               /* 20 */
    sum += fine(1);              /* 21 */
    two(3);                      /* 22 */
    return 0;                    /* 23 */
}
"#;
    for scheme in ["sbl", "edge"] {
        let out = dir.path().join(scheme);
        let lines = lines(&profile_source(source, &["--scheme", scheme], &out));
        let of = |line: u32| lines.get(&line).copied();
        assert_eq!([7, 8, 9].map(of), [Some(2), Some(2), Some(1)], "{scheme}");
        // Nobody knows that the function behind the pointer came back.
        let expected = [Some(2), Some(2), Some(1), Some(1), Some(1)];
        assert_eq!([12, 13, 14, 15, 16].map(of), expected, "{scheme}");
        // The first call of `two` may have been the one that did not return.
        let expected = [Some(1), Some(1), None, None, Some(0)];
        assert_eq!([19, 20, 21, 22, 23].map(of), expected, "{scheme}");
    }
}

/// Of three calls in a block the first is of a function that was left elsewhere, and the last, through a pointer, did
/// not come back. No line counts as never run, since the last call may have been the one.
#[test]
fn lines_in_front_of_calls_through_pointers() {
    let dir = crate::support::folder();
    // The numbers in comments are the lines.
    let source = r#"#include <setjmp.h>
#include <stdlib.h>
static jmp_buf start;
static int jump(int i) { if (i > 2) longjmp(start, 1); return i; }
static int own(int i) { int r = jump(i); return r; }
static int leave(int i) { if (i) exit(0); return 0; }
int (*pointer)(int) = leave;
static int three(int i) {
    int sum = own(i);            /* 9 */
    sum++;                       /* 10 */
    return sum + pointer(i);     /* 11 */
}
int main(void) {
    if (!setjmp(start))
        own(9);
    three(1);
    return 0;
}
"#;
    let out = dir.path().join("out");
    let lines = lines(&profile_source(source, &["--scheme", "sbl"], &out));
    let of = |line: u32| lines.get(&line).copied();
    assert_eq!([9, 10, 11].map(of), [Some(1), None, None]);
}
