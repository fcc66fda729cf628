//! The verdict on a merged profile: what `merge` finds, what it stores, and that every reader says so.

use crate::support::text::assert_line;
use crate::support::{
    PROF, REWRITE, clang, copy_modules, link, llvm, parsed, rewrite, run, runtime, schemes,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Takes a number from its arguments or the environment; without one, the clock's nanoseconds.
const SOURCE: &str = r#"
    #include <signal.h>
    #include <stdlib.h>
    #include <time.h>
    #include <unistd.h>
    __attribute__((noinline)) static int bud(int n) { return n % 7 ? n / 2 : n > 9 ? 3 : 4; }
    __attribute__((noinline)) static int twig(int n) { return n % 5 ? bud(n + 1) : n * 2; }
    __attribute__((noinline)) static int leaf(int n) { return n % 3 ? twig(n) : bud(n); }
    __attribute__((noinline)) static int walk(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) sum += i % 5 ? leaf(i) : i % 2 ? leaf(n) : n;
        return sum;
    }
    __attribute__((noinline)) static void stop(int how) {
        if (how == 'k') raise(SIGKILL);
        if (how == 'f' && fork() == 0) walk(3);
    }
    int main(int argc, char **argv) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        const char *number = argc > 1 ? argv[1] : getenv("NUMBER"), *how = getenv("STOP");
        int n = number ? atoi(number) : (int)(now.tv_nsec / 100 % 100003);
        volatile int sink = walk(n);
        if (how) stop(*how);
        sink += walk(n / 2);
        return 0;
    }"#;

/// A rewriting of the source and its linked copies.
struct Copies {
    dir: tempfile::TempDir,
    out: PathBuf,
}

impl Copies {
    fn new(options: &[&str], copies: u32) -> Copies {
        let dir = crate::support::folder();
        let (source, module) = (dir.path().join("d.c"), dir.path().join("d.bc"));
        std::fs::write(&source, SOURCE).unwrap();
        let mut clang = Command::new(llvm("clang"));
        clang.args(["-O1", "-g", "-fno-inline", "-emit-llvm", "-c"]);
        run(clang.arg(&source).arg("-o").arg(&module));
        let out = dir.path().join("out");
        let k = copies.to_string();
        rewrite(
            std::slice::from_ref(&module),
            &[options, &["-k", &k]].concat(),
            &out,
        );
        for copy in 0..copies {
            let modules = copy_modules(std::slice::from_ref(&module), &out, copy);
            let exe = out.join(format!("{copy}.exe"));
            link(&modules, runtime(), &["-O1"], &exe);
        }
        Copies { dir, out }
    }

    /// Runs one copy; its raw profiles go to the folder `raw`. What looks like a variable becomes one.
    fn run(&self, copy: u32, arguments: &[&str], raw: &str) {
        let pattern = self.dir.path().join(raw).join("%k-%p.p3raw");
        self.run_as(copy, arguments, pattern.to_str().unwrap());
    }

    /// The same with this pattern.
    fn run_as(&self, copy: u32, arguments: &[&str], pattern: &str) {
        let mut program = Command::new(self.out.join(format!("{copy}.exe")));
        program.env("P3_PROFILE_FILE", pattern);
        for argument in arguments {
            match argument.split_once('=') {
                Some((name, value)) => program.env(name, value),
                None => program.arg(argument),
            };
        }
        program.output().unwrap();
    }

    /// Runs a tool in the folder; exit status, and all that it printed.
    fn tool(&self, program: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.dir.path());
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().unwrap();
        let text = [stdout, stderr].concat();
        (status.code(), String::from_utf8_lossy(&text).into_owned())
    }

    fn prof(&self, arguments: &[&str]) -> (Option<i32>, String) {
        self.tool(PROF, arguments)
    }

    /// Merges into `x.p3prof`.
    fn merge(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let merge = ["merge", "-m", "out/manifest.json", "-o", "x.p3prof"];
        self.prof(&[&merge, arguments].concat())
    }

    /// Merges, verifies and shows; the exit status of the merge, and the verdict.
    fn verdict(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let (status, said) = self.merge(arguments);
        let (verified, report) = self.prof(&["verify", "x.p3prof"]);
        let found = report.contains("violation: ");
        assert_eq!(verified, Some(i32::from(found)), "{report}");
        let program = json(self.dir.path(), "x.p3prof");
        let verdict = program["verdict"].as_str().unwrap().to_string();
        assert_eq!(verdict == "violations", found, "{report}");
        assert_eq!(verdict == "ok", !said.contains("warning: "), "{said}");
        (status, verdict, said + &report)
    }
}

/// `program` of `show --format json`.
fn json(dir: &Path, file: &str) -> serde_json::Value {
    let mut show = Command::new(PROF);
    let shown = run(show
        .args(["show", "--edges", "--format", "json", file])
        .current_dir(dir));
    let shown = parsed(&shown.stdout);
    shown["program"].clone()
}

#[test]
fn copies_that_ran_alike_are_ok() {
    for scheme in ["p3", "pbl", "edge"] {
        let copies = Copies::new(&["--scheme", scheme], 3);
        for copy in 0..3 {
            copies.run(copy, &["300"], "raw");
            copies.run(copy, &["77"], "raw");
        }
        let (status, said) = copies.merge(&["raw"]);
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(
            said,
            "x.p3prof: ok
  raw profiles  6
  copies        3 of 3
  runs          2 of each copy
  functions     5 of 6 ran
"
        );
        let (status, said) = copies.prof(&["verify", "x.p3prof"]);
        assert_eq!(
            (status, said.as_str()),
            (Some(0), "6 functions checked, 0 violations\n")
        );
    }
}

/// Other input to one copy, and programs that ask the clock: found by the merge, named, stored.
#[test]
fn copies_that_did_not_run_alike() {
    let contradictions = [
        ("p3", "3 functions (leaf, twig, bud), by 100.00% of paths"),
        ("pbl", "2 functions (twig, bud), by 32.89% of paths"),
    ];
    for (scheme, contradiction) in contradictions {
        let copies = Copies::new(&["--scheme", scheme], 3);
        copies.run(0, &["300"], "raw");
        copies.run(1, &["300"], "raw");
        copies.run(2, &["33"], "raw");
        let (status, verdict, said) = copies.verdict(&["raw"]);
        assert_eq!(
            (status, verdict.as_str()),
            (Some(1), "violations"),
            "{said}"
        );
        let warning = format!(
            "warning: x.p3prof: violations: copy 2 ran with other arguments than copy 0: 33 instead of 300; copies \
            did not run alike: counts contradict each other in {contradiction}; more counts may be missing; p3-prof \
            verify says how, and what helps"
        );
        assert_line(&said, &warning);
        assert_line(
            &said,
            "violation: copy 2 ran with other arguments than copy 0: 33 instead of 300",
        );
        let helps = [
            "-k 1",
            "--exclude '^(",
            "setarch -R",
            "valgrind",
            "make run",
        ];
        assert!(helps.iter().all(|h| said.contains(h)), "{said}");

        for copy in 0..3 {
            copies.run(copy, &[], "clock");
        }
        let (status, verdict, said) = copies.verdict(&["clock"]);
        assert_eq!(
            (status, verdict.as_str()),
            (Some(1), "violations"),
            "{said}"
        );
    }
}

/// Which functions differ, in how much of what ran, by what; and that others do not.
#[test]
fn contradictions_are_told_by_function_and_cause() {
    let copies = Copies::new(&["--scheme", "pbl"], 2);
    for copy in 0..2 {
        copies.run(copy, &[], "clock");
    }
    let (_, verdict, said) = copies.verdict(&["clock"]);
    assert_eq!(verdict, "violations", "{said}");
    let begins = |start: &str, end: &str| {
        let mut lines = said.lines();
        lines.any(|l| l.starts_with(start) && l.ends_with(end))
    };
    assert!(begins("violation: ", " of paths)"), "{said}");
    assert!(
        begins("", " may differ by time (clock_gettime in main)"),
        "{said}"
    );
    // `stop` is never called, `main` called once: what they do says nothing of the rest.
    assert!(
        begins("ok: ", " which several copies counted, and agree on"),
        "{said}"
    );
    assert!(!said.contains("ok: 6 of 6"), "{said}");
}

/// Where counts do not tell, arguments do.
#[test]
fn other_arguments() {
    let copies = Copies::new(&["--scheme", "pbl"], 2);
    copies.run(0, &["300", "x y"], "raw");
    copies.run(1, &["300", "\x1b"], "raw");
    let (status, verdict, said) = copies.verdict(&["raw"]);
    assert_eq!(
        (status, verdict.as_str()),
        (Some(1), "violations"),
        "{said}"
    );
    let unlike =
        r#"copy 1 ran with other arguments than copy 0: 300 "\u{1b}" instead of 300 "x y""#;
    assert!(
        said.contains(&format!("warning: x.p3prof: violations: {unlike}\n")),
        "{said}"
    );
    assert!(said.contains(&format!("violation: {unlike}\n")), "{said}");
}

/// The function that is off by most comes first, and a line names no more than a few.
#[test]
fn the_most_affected_come_first() {
    let copies = Copies::new(&["--scheme", "p3"], 4);
    for copy in 0..4 {
        copies.run(copy, &[["100", "1000", "2000", "5"][copy as usize]], "raw");
    }
    copies.verdict(&["raw"]);
    let program = json(copies.dir.path(), "x.p3prof");
    let off = program["violations"].as_array().unwrap().iter();
    let off: Vec<u64> = off.map(|v| v["difference"].as_u64().unwrap()).collect();
    assert!(off.len() > 1 && off.is_sorted_by(|a, b| a >= b), "{off:?}");
}

#[test]
fn copies_that_ran_unequally_often() {
    let copies = Copies::new(&["--scheme", "pbl"], 2);
    for copy in 0..2 {
        copies.run(copy, &["300"], "raw");
    }
    copies.run(1, &["300"], "raw");
    let (status, verdict, said) = copies.verdict(&["raw"]);
    assert_eq!(
        (status, verdict.as_str()),
        (Some(1), "incomplete"),
        "{said}"
    );
    assert_line(
        &said,
        "  incomplete    unequal numbers of runs: 2 of copy 1 and 1 of copy 0",
    );
    assert_line(
        &said,
        "warning: x.p3prof: incomplete: unequal numbers of runs: 2 of copy 1 and 1 of copy 0",
    );
    assert_line(
        &said,
        "incomplete: unequal numbers of runs: 2 of copy 1 and 1 of copy 0",
    );
    // Whoever wants it anyway.
    assert_eq!(copies.merge(&["raw", "--failure-mode", "warn"]).0, Some(0));
    assert_eq!(
        copies
            .merge(&["raw", "--failure-mode", "warn", "--strict"])
            .0,
        Some(1)
    );
}

/// What is missing, killed or forked is named, and nothing that cannot be checked is called a violation.
#[test]
fn missing_copies_and_killed_processes() {
    for (scheme, _) in schemes(4).filter(|(_, copies)| *copies == 4) {
        let copies = Copies::new(&["--scheme", scheme.name()], 4);
        copies.run(0, &["300", "STOP=k"], "raw");
        let (status, said) = copies.merge(&["raw"]);
        assert_eq!(status, Some(2), "{said}");
        assert_line(
            &said,
            "error: out/manifest.json: no raw profile of copies 1, 2, 3; run it, and name its *.p3raw \
            file (--failure-mode warn goes on without)",
        );
        let (status, verdict, said) = copies.verdict(&["--failure-mode", "warn", "raw"]);
        assert_eq!(
            (status, verdict.as_str()),
            (Some(0), "incomplete"),
            "{scheme}: {said}"
        );
        assert_line(
            &said,
            "warning: x.p3prof: incomplete: nothing of copies 1, 2, 3 was merged; processes that did \
            not end normally (killed, _exit, exec, or threads left behind): 1 of copy 0",
        );
        assert_line(&said, "incomplete: nothing of copies 1, 2, 3 was merged");
        // The others ran to their end: what they say cannot be compared with a part.
        for copy in 1..4 {
            copies.run(copy, &["300"], "raw");
        }
        let (status, verdict, said) = copies.verdict(&["raw"]);
        assert_eq!(
            (status, verdict.as_str()),
            (Some(0), "incomplete"),
            "{scheme}: {said}"
        );
        for copy in 0..4 {
            copies.run(copy, &["300", "STOP=f"], "forked");
        }
        let (status, verdict, said) = copies.verdict(&["forked"]);
        assert_eq!(
            (status, verdict.as_str()),
            (Some(0), "incomplete"),
            "{scheme}: {said}"
        );
        assert_line(
            &said,
            "  incomplete    processes that began in the middle, as forked children: 1 of copies 0, 1, \
            2, 3 each",
        );
        assert_line(
            &said,
            "warning: x.p3prof: incomplete: processes that began in the middle, as forked children: 1 \
            of copies 0, 1, 2, 3 each; calls and entries differ in 2 functions, by 1 at most: functions were under \
            way when these processes began or ended, or copies ran differently",
        );
        assert_line(
            &said,
            "incomplete: processes that began in the middle, as forked children: 1 of copies 0, 1, 2, \
            3 each",
        );
    }
}

#[test]
fn no_file_counts_twice() {
    let copies = Copies::new(&["--scheme", "pbl", "--count-hits"], 2);
    for copy in 0..2 {
        copies.run(copy, &["300"], "raw");
    }
    let dir = copies.dir.path();
    let files = std::fs::read_dir(dir.join("raw")).unwrap();
    let mut names: Vec<String> = files
        .map(|f| format!("raw/{}", f.unwrap().file_name().to_str().unwrap()))
        .collect();
    names.sort();
    let file = dir.join(&names[0]);
    std::fs::hard_link(&file, dir.join("hard")).unwrap();
    std::os::unix::fs::symlink(&file, dir.join("soft")).unwrap();
    std::fs::copy(&file, dir.join("copied")).unwrap();
    let read_before = |again: &str, first: &str| {
        format!("{again}: its counts were read before, from {first}; name every run once")
    };
    for again in ["raw", &names[0], "hard", "soft", "copied"] {
        let (status, said) = copies.merge(&["raw", again]);
        assert_eq!(status, Some(2), "{said}");
        let again = if again == "raw" { &names[0] } else { again };
        assert_eq!(said, format!("error: {}\n", read_before(again, &names[0])));
        assert!(!dir.join("x.p3prof").exists());
    }
    // Otherwise it is left out, and said.
    let (status, said) = copies.merge(&["raw", "raw", "--failure-mode", "all"]);
    assert_eq!(status, Some(0), "{said}");
    assert_line(&said, "  raw profiles  2");
    for name in &names {
        assert_line(&said, &format!("warning: {}", read_before(name, name)));
    }
    let (status, said) = copies.merge(&["raw"]);
    assert_eq!(status, Some(0), "{said}");
    let merge = [
        "merge",
        "-m",
        "out/manifest.json",
        "-o",
        "y.p3prof",
        "x.p3prof",
        "x.p3prof",
    ];
    let (status, said) = copies.prof(&merge);
    assert_eq!(status, Some(2), "{said}");
    let hits = ["hits", "-m", "out/manifest.json", "raw", "raw"];
    let (status, said) = copies.prof(&hits);
    assert_eq!(status, Some(2), "{said}");
    assert_eq!(
        said,
        format!("error: {}\n", read_before(&names[0], &names[0]))
    );
}

/// Merging merged profiles gives what merging their raw profiles gives, verdicts too.
#[test]
fn merged_profiles_merge() {
    for scheme in ["p3", "edge"] {
        let copies = Copies::new(&["--scheme", scheme], 3);
        for copy in 0..3 {
            copies.run(copy, &["300"], "a");
            copies.run(copy, &["41"], "b");
            copies.run(copy, &[["9", "7", "50"][copy as usize]], "unlike");
        }
        let merge = |to: &str, from: &[&str]| {
            let merge = ["merge", "-m", "out/manifest.json", "-o", to];
            copies.prof(&[&merge, from].concat())
        };
        for name in ["a", "b", "unlike"] {
            merge(&format!("{name}.p3prof"), &[name]);
        }
        assert_eq!(merge("raws.p3prof", &["a", "b"]).0, Some(0));
        for parts in [["a.p3prof", "b.p3prof"], ["b", "a.p3prof"]] {
            let (status, said) = merge("both.p3prof", &parts);
            assert_eq!(status, Some(0), "{said}");
            let bytes = |name: &str| std::fs::read(copies.dir.path().join(name)).unwrap();
            assert!(bytes("both.p3prof") == bytes("raws.p3prof"));
        }
        if scheme == "p3" {
            let (status, said) = merge("both.p3prof", &["a.p3prof", "unlike.p3prof"]);
            assert_eq!(status, Some(1), "{said}");
        }
        // One that lacks a copy holds other copies' counts of its paths.
        for file in std::fs::read_dir(copies.dir.path().join("b")).unwrap() {
            let file = file.unwrap();
            if file.file_name().to_str().unwrap().starts_with("1-") {
                std::fs::remove_file(file.path()).unwrap();
            }
        }
        merge("part.p3prof", &["b", "--failure-mode", "warn"]);
        let (status, said) = merge("both.p3prof", &["a.p3prof", "part.p3prof"]);
        assert_eq!(status, Some(2), "{said}");
        assert_line(
            &said,
            "error: part.p3prof: it is incomplete: nothing of copy 1 was merged; merge the raw \
            profiles themselves",
        );
    }
}

/// Every reader repeats the verdict in a line; `--strict` refuses and writes nothing.
#[test]
fn readers_repeat_the_verdict() {
    let copies = Copies::new(&["--scheme", "p3"], 2);
    copies.run(0, &["300"], "raw");
    copies.run(1, &["300"], "raw");
    assert_eq!(copies.merge(&["raw"]).0, Some(0));
    std::fs::rename(
        copies.dir.path().join("x.p3prof"),
        copies.dir.path().join("ok.p3prof"),
    )
    .unwrap();
    copies.run(0, &["NUMBER=5"], "raw");
    copies.run(1, &["NUMBER=50"], "raw");
    assert_eq!(copies.merge(&["raw"]).0, Some(1));
    let native = ["--modules", "out/native"];
    let prof: &[&[&str]] = &[
        &["show"],
        &["show", "--format", "json"],
        &["show", "--format", "csv"],
        &["show", "--edges"],
        &["show", "--edges", "--format", "json"],
        &["compare", "ok.p3prof"],
        &["accuracy"],
        &["coverage"],
        &["diff", "ok.p3prof"],
        &["simulate"],
        &["simulate", "ok.p3prof", "--profile"],
        &["export", "-o", "made", "--format", "lcov"],
        &["export", "-o", "made", "--format", "folded"],
        &[
            "export", "-o", "made", native[0], native[1], "--format", "proftext",
        ],
    ];
    let rewrite: &[&[&str]] = &[
        &["annotate", "d.bc", "-o", "made", "--profile"],
        &["proftext", "d.bc", "-o", "made", "--profile"],
        &["d.bc", "-o", "made", "--profile"],
    ];
    let commands = prof.iter().map(|c| (PROF, c));
    for (program, command) in commands.chain(rewrite.iter().map(|c| (REWRITE, c))) {
        let made = copies.dir.path().join("made");
        let (status, said) =
            copies.tool(program, &[command, &["x.p3prof", "--strict"][..]].concat());
        assert_eq!(status, Some(1), "{command:?}: {said}");
        assert!(
            said.starts_with("error: x.p3prof: violations: copies did not run alike"),
            "{command:?}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!made.exists(), "{command:?}");
        let (status, said) = copies.tool(program, &[command, &["x.p3prof"][..]].concat());
        let differ = ["compare", "diff"].contains(&command[0]);
        assert_eq!(status, Some(i32::from(differ)), "{command:?}: {said}");
        assert_eq!(
            said.matches("copies did not run alike").count(),
            1,
            "{command:?}: {said}"
        );
        let _ = std::fs::remove_file(&made);
        let _ = std::fs::remove_dir_all(&made);
        let (_, said) = copies.tool(program, &[command, &["ok.p3prof", "--strict"][..]].concat());
        assert!(!said.contains("violations: "), "{command:?}: {said}");
        let _ = std::fs::remove_file(&made);
        let _ = std::fs::remove_dir_all(&made);
    }
    let (status, said) = copies.prof(&["verify", "x.p3prof", "--strict"]);
    assert!(status == Some(1), "{said}");
    assert!(said.contains("violation: "), "{said}");
}

/// The runner says it, and fails; the profile is there to be looked at.
#[test]
fn the_runner_fails_visibly() {
    let copies = Copies::new(&["--scheme", "p3"], 3);
    let prof = format!("P3_PROF={PROF}");
    let make = ["-s", "-C", "out", &prof, &format!("CC={}", clang())];
    let run = |arguments: &[&str]| copies.tool("make", &[&make, arguments].concat());
    let (status, said) = run(&["run"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(
        said.contains("copies did not run alike: counts contradict"),
        "{said}"
    );
    assert!(copies.out.join("profile.p3prof").exists());
    let (status, said) = run(&["run", "ARGS=55"]);
    assert_eq!(status, Some(0), "{said}");
}

/// Raw profiles of many programs in one folder: each is merged with its own, whatever is wrong with others.
#[test]
fn many_programs() {
    let programs = [("a", "pbl"), ("b", "p3"), ("c", "sbl"), ("never", "edge")];
    let copies: Vec<(&str, Copies, u32)> = programs
        .iter()
        .map(|(name, scheme)| {
            let k = if ["sbl", "edge"].contains(scheme) {
                1
            } else {
                2
            };
            (*name, Copies::new(&["--scheme", scheme], k), k)
        })
        .collect();
    let all = crate::support::folder();
    for (name, of, _) in &copies {
        let to = all.path().join("suite").join(name);
        std::fs::create_dir_all(&to).unwrap();
        std::fs::copy(of.out.join("manifest.json"), to.join("manifest.json")).unwrap();
    }
    let raw = all.path().join("raw").to_str().unwrap().to_string();
    for (name, of, k) in copies.iter().filter(|(name, ..)| *name != "never") {
        for copy in 0..*k {
            // Of b, the second copy got other arguments.
            let number = if *name == "b" && copy == 1 {
                "33"
            } else {
                "300"
            };
            of.run_as(copy, &[number], &format!("{raw}/%k-%m.p3raw"));
            of.run_as(copy, &[number], &format!("{raw}/%k-%m.p3raw"));
        }
    }
    let prof = |arguments: &[&str]| {
        let mut command = Command::new(PROF);
        let output = command
            .args(arguments)
            .current_dir(all.path())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let merge = ["merge", "-m", "suite", "-o", "profiles", "raw"];
    let (status, said) = prof(&merge);
    assert_eq!(status, Some(1), "{said}");
    for line in [
        "profiles/a.p3prof: ok\n  raw profiles  2\n  copies        2 of 2\n  runs          2 of each copy\n",
        "profiles/b.p3prof: violations\n  raw profiles  2\n  copies        2 of 2\n  runs          2 of each copy\n",
        "  violation     copy 1 ran with other arguments than copy 0: 33 instead of 300\n",
        "profiles/c.p3prof: ok\n  raw profiles  1\n  copies        1 of 1\n  runs          2\n",
        "3 of 4 programs ran\n",
        "warning: profiles/b.p3prof: violations: copy 1 ran with other arguments than copy 0: 33 instead of 300;",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert!(!all.path().join("profiles/never.p3prof").exists());
    let alone = [
        "merge",
        "-m",
        "suite/a/manifest.json",
        "-o",
        "a.p3prof",
        "--failure-mode",
        "all",
        "raw",
    ];
    assert_eq!(prof(&alone).0, Some(0));
    assert_eq!(
        prof(&["compare", "a.p3prof", "profiles/a.p3prof"]).0,
        Some(0)
    );
    // The folder is of no build, and of several programs.
    let (status, said) = prof(&["coverage", "profiles/"]);
    let remedy = "name the profiles themselves: profiles/*.p3prof\n";
    assert_eq!(status, Some(2), "{said}");
    assert!(said.ends_with(remedy), "{said}");
    let (status, said) = prof(&["show", "profiles"]);
    let remedy = "profiles/c.p3prof), or join them first \
                  (p3-prof union $(find profiles -name '*.p3prof') -o all.p3prof)\n";
    assert_eq!(status, Some(2), "{said}");
    assert!(said.ends_with(remedy), "{said}");
    let first = std::fs::read_dir(&raw).unwrap().next().unwrap().unwrap();
    let (status, said) = prof(&["show", first.path().to_str().unwrap()]);
    let remedy = "it is a raw one: merge those of all copies first (p3-prof merge -m OUTDIR -o FILE OUTDIR)\n";
    assert_eq!(status, Some(2), "{said}");
    assert!(said.ends_with(remedy), "{said}");
    // A slash at the end is a folder, also for one program.
    let into = |output| {
        prof(&[
            "merge",
            "-m",
            "suite/a",
            "-o",
            output,
            "--failure-mode",
            "all",
            "raw",
        ])
    };
    let (status, said) = into("one/");
    assert_eq!(status, Some(0), "{said}");
    assert_line(&said, "one/a.p3prof: ok");
    assert_line(&said, "1 of 1 program ran");
    let (status, said) = into("a.p3prof/");
    assert_eq!(status, Some(2), "{said}");
    assert_eq!(said, "error: -o a.p3prof: this is a file; name a folder\n");
    // Named one by one, and added to what was merged before: that is refused, since it is the same.
    let named = ["suite/a", "suite/b/manifest.json", "suite/c"]
        .map(|m| ["-m", m])
        .concat();
    let (status, said) = prof(&[&["merge", "-o", "again"], &named[..], &["raw"]].concat());
    assert_eq!(status, Some(1), "{said}");
    let (status, said) = prof(
        &[
            &["merge", "-o", "twice"],
            &named[..],
            &["raw", "again/c.p3prof"],
        ]
        .concat(),
    );
    assert!(status == Some(2), "{said}");
    assert!(
        said.contains("its counts were read before, from raw/"),
        "{said}"
    );
    // Sources that were never linked are no program.
    let folder = |name: &str| all.path().join("suite").join(name);
    std::fs::create_dir(folder(".p3-unlinked")).unwrap();
    std::fs::rename(folder("never"), folder(".p3-unlinked/never")).unwrap();
    let (_, said) = prof(&["merge", "-m", "suite", "-o", "linked", "raw"]);
    assert_line(&said, "3 of 3 programs ran");
    // Of one program a copy is missing: the others are merged.
    for file in all
        .path()
        .join("raw")
        .read_dir()
        .unwrap()
        .map(|f| f.unwrap().path())
    {
        let raw = p3_rewrite::profile::raw::read(&std::fs::File::open(&file).unwrap()).unwrap();
        if raw.copies == 2 && raw.copy.0 == 1 {
            std::fs::remove_file(file).unwrap();
        }
    }
    let (status, said) = prof(&["merge", "-m", "suite", "-o", "rest", "raw"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(
        said.contains("rest/c.p3prof: ok\n  raw profiles  1\n"),
        "{said}"
    );
    assert_line(
        &said,
        "error: a: suite/a/manifest.json: no raw profile of copy 1; run it, and name its *.p3raw file \
        (--failure-mode warn goes on without)",
    );
    assert_line(
        &said,
        "error: b: suite/b/manifest.json: no raw profile of copy 1; run it, and name its *.p3raw file \
        (--failure-mode warn goes on without)",
    );
    // Files of programs that were not named.
    let (status, said) = prof(&[
        "merge", "-m", "suite/a", "-m", "suite/c", "-o", "some", "raw",
    ]);
    assert!(status == Some(2), "{said}");
    assert!(said.contains("it is of none of the 2 programs"), "{said}");
    std::fs::write(all.path().join("file"), "").unwrap();
    let (status, said) = prof(&["merge", "-m", "suite", "-o", "file", "raw"]);
    assert!(status == Some(2), "{said}");
    assert_line(&said, "error: -o file: this is a file; name a folder");
}

/// Of many runs, those are named of which a copy did something else: other counts, other numbers, another end.
#[test]
fn runs_of_which_copies_differ() {
    let copies = Copies::new(&["--scheme", "p3"], 3);
    for copy in 0..3 {
        for number in ["300", "77", "150"] {
            copies.run(copy, &[number], "raw");
        }
        // The same arguments, and another number in the environment of copy 2: counts alone tell.
        let number = if copy == 2 { "NUMBER=9" } else { "NUMBER=200" };
        copies.run(copy, &[number], "raw");
        let end: &[&str] = if copy == 1 {
            &["41", "STOP=k"]
        } else {
            &["41"]
        };
        copies.run(copy, end, "raw");
    }
    copies.run(0, &["77"], "raw");
    copies.merge(&["raw"]);
    let (status, said) = copies.prof(&["verify", "x.p3prof", "--runs", "raw"]);
    assert_eq!(status, Some(1), "{said}");
    let runs: Vec<&str> = said.lines().filter(|l| l.starts_with("run ")).collect();
    let counts = "run none: leaf: called ";
    assert!(runs.iter().any(|l| l.starts_with(counts)), "{said}");
    let numbers = "run 77: unequal numbers of runs: 2 of copy 0 and 1 of copies 1, 2 each";
    assert!(runs.contains(&numbers), "{said}");
    assert!(
        runs.iter()
            .any(|l| l.starts_with("run 41: ") && l.contains("1 of copy 1")),
        "{said}"
    );
    assert!(
        !runs
            .iter()
            .any(|l| l.starts_with("run 300: ") || l.starts_with("run 150: ")),
        "{said}"
    );
    assert!(
        said.ends_with("3 of 5 runs differ between copies (by arguments)\n"),
        "{said}"
    );
    let (status, said) = copies.prof(&["verify", "x.p3prof", "--runs", "raw", "raw"]);
    assert!(status == Some(2), "{said}");
    assert!(said.contains("its counts were read before"), "{said}");

    // Runs that share files: their numbers.
    let pool = copies.dir.path().join("pool/%k-%m.p3raw");
    for copy in 0..3 {
        for number in ["300", "77"].iter().take(if copy == 1 { 1 } else { 2 }) {
            copies.run_as(copy, &[number], pool.to_str().unwrap());
        }
    }
    copies.merge(&["pool"]);
    let (status, said) = copies.prof(&["verify", "x.p3prof", "--runs", "pool"]);
    assert_eq!(status, Some(1), "{said}");
    assert_line(&said, "run 77: nothing of copy 1 was merged");
    assert_line(&said, "1 of 2 runs differ between copies (by arguments)");
    assert_line(
        &said,
        "of 2 of them: they share files (%m), so their numbers were compared, and not their counts",
    );
}
