//! Suites: rounds that run unlike each other, arguments that are new every time, suites that are interrupted.

use crate::build::{command, folder, rewrite, stderr};
use crate::support::{REWRITE, llvm, run};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

/// Takes ways that depend on the number of its arguments.
const PROGRAM: &str = "volatile int sink;\n\
    __attribute__((noinline)) void f(int n) { if (n > 2) sink = n; else sink++; }\n\
    int main(int n, char **v) { for (int i = 0; i < n; i++) f(i + n); return 0; }\n";

/// A program `prog` in two copies, of which one counts `f` and the other `main`.
fn two_copies() -> TempDir {
    let dir = folder(&[("prog.c", PROGRAM)]);
    let build = ["build", "-k", "2", "-o", "p3", "--scheme", "pbl", "--"];
    let compile = ["sh", "-c", "$CC -O1 -fno-inline prog.c -o prog"];
    rewrite(dir.path(), &[&build[..], &compile].concat());
    dir
}

/// Runs a suite of shell commands; what it printed of its own, without times.
#[track_caller]
fn suite(dir: &Path, options: &[&str], script: &str) -> Vec<String> {
    let all = [&["suite", "-o", "p3"], options, &["--", "sh", "-c", script]];
    let said = stderr(&rewrite(dir, &all.concat()));
    let lines = said.lines().map(|l| l.split(" s\n").next().unwrap_or(l));
    lines.map(str::to_string).collect()
}

/// What gzip's first suite does: the round of copy 0 builds something by the program.
const BUILDS_FIRST: &str = "[ -e built ] || { ./prog -9; touch built; }; ./prog; ./prog a";

/// One build for all of them: most of the time of a test goes into it.
#[test]
fn suites_that_ran_unlike_each_other() {
    let dir = two_copies();
    suite_without_repeating_names_only_the_numbers_of_runs(dir.path());
    std::fs::remove_file(dir.path().join("built")).unwrap();
    suite_whose_first_round_builds_by_the_program_ends_ok(dir.path());
    suite_with_a_round_that_differs_by_chance_ends(dir.path());
    suite_whose_arguments_are_temporary_names_ends_ok(dir.path());
    std::fs::remove_file(dir.path().join("built")).unwrap();
    suite_with_other_arguments_has_violations(dir.path());
}

fn suite_whose_first_round_builds_by_the_program_ends_ok(dir: &Path) {
    let said = suite(dir, &[], BUILDS_FIRST);
    let again = said.iter().filter(|l| l.contains("runs again"));
    let expected =
        "p3: copy 0 runs again, since its round was unlike the others (prog: 3 instead of 2 runs)";
    assert_eq!(again.collect::<Vec<_>>(), [expected], "{said:#?}");
    assert!(
        said.contains(&"p3: p3/prog.p3/profile.p3prof: ok".into()),
        "{said:#?}"
    );
    let next = said.last().map(String::as_str);
    assert_eq!(next, Some("p3: next: p3-prof show p3/prog.p3"));
    assert!(
        said.iter().any(|l| l.ends_with("2 of each copy")),
        "{said:#?}"
    );
    // The second suite has nothing to repeat.
    let said = suite(dir, &[], BUILDS_FIRST);
    assert!(!said.iter().any(|l| l.contains("runs again")), "{said:#?}");
}

fn suite_without_repeating_names_only_the_numbers_of_runs(dir: &Path) {
    let said = suite(dir, &["--no-repeat"], BUILDS_FIRST);
    let findings: Vec<&String> = said.iter().filter(|l| l.starts_with("warning: ")).collect();
    let expected = "warning: p3/prog.p3/profile.p3prof: incomplete: unequal numbers of runs: 3 of copy 0 and 2 of copy \
                    1";
    assert_eq!(findings, [expected], "more runs are no other arguments");
}

fn suite_with_a_round_that_differs_by_chance_ends(dir: &Path) {
    // Every round has one run more than the one before it.
    let script =
        "echo >>rounds; for i in $(cat rounds | tr '\\n' 'x' | sed 's/x/ x/g'); do ./prog; done";
    let said = suite(dir, &[], script);
    let again = said.iter().filter(|l| l.contains("runs again")).count();
    assert_eq!(again, 2, "each round once: {said:#?}");
    assert!(
        said.contains(&"p3: p3/prog.p3/profile.p3prof: incomplete".into()),
        "{said:#?}"
    );
}

fn suite_whose_arguments_are_temporary_names_ends_ok(dir: &Path) {
    let script =
        "d=$(mktemp -d /tmp/jq.XXXXXX) && ./prog $d/in.json && ./prog in-$$ --file=$d && rmdir $d";
    let said = suite(dir, &[], script);
    assert!(
        said.contains(&"p3: p3/prog.p3/profile.p3prof: ok".into()),
        "{said:#?}"
    );
}

/// Words that are no temporary names are still compared.
fn suite_with_other_arguments_has_violations(dir: &Path) {
    let script = "[ -e built ] && ./prog b || ./prog a; touch built";
    let said = suite(dir, &["--no-repeat"], script);
    let unlike = "violations: copy 1 ran with other arguments than copy 0: b instead of a";
    assert!(said.iter().any(|l| l.contains(unlike)), "{said:#?}");
}

/// Whether a process has this last argument. (A defunct one has no arguments.)
fn is_running(argument: &str) -> bool {
    let last = format!("\0{argument}\0");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut arguments = processes.filter_map(|p| std::fs::read(p.path().join("cmdline")).ok());
    arguments.any(|a| a.ends_with(last.as_bytes()))
}

#[test]
fn interrupted_suite_ends_what_it_started_and_puts_copy_0_back() {
    let dir = two_copies();
    let dir = dir.path();
    let same = |copy: u32| {
        let copy = dir.join(format!("p3/prog.p3/bin/copy-{copy}"));
        std::fs::read(dir.join("prog")).unwrap() == std::fs::read(copy).unwrap()
    };
    // An earlier suite's profile is of other runs as soon as a copy has counted in this one.
    let merged = dir.join("p3/prog.p3/profile.p3prof");
    std::fs::write(&merged, "earlier").unwrap();
    // In the second round, a child that ignores SIGTERM and has the folder among its arguments.
    let name = dir.to_str().unwrap();
    let script = format!(
        "[ -e first ] || {{ touch first; ./prog a b; exit; }}; \
        sh -c 'trap \"\" TERM; echo $$ >pid.part; mv pid.part pid; sleep 300; sleep 300' {name} & wait; sleep 300"
    );
    let mut suite = command(REWRITE, dir)
        .args([
            "suite",
            "-o",
            "p3",
            "--no-repeat",
            "--",
            "sh",
            "-c",
            &script,
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !dir.join("pid").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
        assert!(suite.try_wait().unwrap().is_none(), "it runs");
    }
    assert!(same(1) && is_running(name));
    kill_process(Pid::from_child(&suite), Signal::TERM).unwrap();
    let status = suite.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()), "{status}");
    assert!(!is_running(name), "what the suite started is over");
    assert!(same(0));
    assert!(!merged.exists());
}

/// Without an option rounds have the same process ids, and a command that ends itself by a signal does so there.
#[test]
fn rounds_have_the_same_process_ids_where_namespaces_are_allowed() {
    let dir = two_copies();
    let dir = dir.path();
    let pids = |options: &[&str]| {
        let _ = std::fs::remove_file(dir.join("pids"));
        suite(dir, options, "echo $$ >>pids; ./prog");
        std::fs::read_to_string(dir.join("pids")).unwrap()
    };
    let same = |pids: String| {
        let pids: Vec<&str> = pids.lines().collect();
        assert_eq!(pids.len(), 2, "{pids:?}");
        pids[0] == pids[1]
    };
    assert!(!same(pids(&["--no-same-pids"])));
    assert!(same(pids(&[])));
    let abort = ["suite", "-o", "p3", "--", "sh", "-c", "kill -ABRT $$"];
    let status = command(REWRITE, dir).args(abort).status().unwrap();
    assert_eq!(status.code(), Some(128 + Signal::ABORT.as_raw()));
}

/// Tests that take their input from /dev/urandom: rounds that counted differently run again with the same random
/// numbers.
#[test]
fn suite_that_reads_random_numbers_ends_ok() {
    let source = "#include <stdio.h>\nvolatile int sink;\n\
        __attribute__((noinline)) static void f(int n) { if (n > 2) sink = n; else sink++; }\n\
        int main(void) { int n = getchar(); n = 256 * n + getchar(); for (int i = 0; i < n; i++) f(i); return 0; }\n";
    let dir = folder(&[("prog.c", source)]);
    let dir = dir.path();
    let build = ["build", "-k", "2", "-o", "p3", "--scheme", "pbl", "--"];
    let compile = ["sh", "-c", "$CC -O1 -fno-inline prog.c -o prog"];
    rewrite(dir, &[&build[..], &compile].concat());
    // The time stays as it is.
    let script = "head -c 2 /dev/urandom | ./prog; [ $(date +%Y) -gt 2020 ]";
    let said = suite(dir, &[], script);
    let again = "p3: rounds ran the same processes and counted differently: they run again, each with the same random \
                 numbers";
    assert!(said.contains(&again.to_string()), "{said:#?}");
    let ok = "p3: p3/prog.p3/profile.p3prof: ok".to_string();
    assert!(said.contains(&ok), "{said:#?}");
    let said = suite(dir, &["--no-repeat"], script);
    assert!(!said.contains(&ok), "{said:#?}");
}

/// A program with fewer copies than another one is native in the rounds that it has no copy for.
#[test]
fn programs_with_fewer_copies_count_each_run_once() {
    let dir = folder(&[("prog.c", PROGRAM)]);
    for (copies, name) in [("1", "one"), ("2", "two")] {
        let compile = format!("$CC -O1 prog.c -o {name}");
        let build = ["build", "-k", copies, "-o", "p3", "--", "sh", "-c"];
        rewrite(dir.path(), &[&build[..], &[compile.as_str()]].concat());
    }
    let said = suite(dir.path(), &[], "./one; ./two; ./two");
    let runs = said.iter().filter_map(|l| l.strip_prefix("p3:   runs "));
    let runs: Vec<&str> = runs.map(str::trim).collect();
    assert_eq!(runs, ["1", "2 of each copy"], "{said:#?}");
}

/// The exit status is that of the command, and a warning says in which round it failed; `-q` leaves out everything but
/// warnings.
#[test]
fn suite_ends_with_status_of_its_command() {
    let dir = two_copies();
    let run = |options: &[&str], script: &str| {
        let all = [&["suite", "-o", "p3"], options, &["--", "sh", "-c", script]];
        let output = command(REWRITE, dir.path()).args(all.concat()).output();
        let output = output.unwrap();
        (output.status.code(), stderr(&output))
    };
    let ended = |status: u32, copy: u32| {
        format!(
            "warning: your command ended with status {status} in the round of copy {copy}; \
             this status is passed on\n"
        )
    };
    let differ = "the rounds ended with different statuses: the copies did not run alike";
    let (status, said) = run(&[], "./prog; exit 3");
    assert_eq!(status, Some(3), "{said}");
    assert!(
        said.contains(&ended(3, 0)) && !said.contains(differ),
        "{said}"
    );
    assert!(said.contains("p3: copy 0: status 3"), "{said}");
    let (status, said) = run(&["-q"], "./prog; exit 3");
    assert_eq!((status, said), (Some(3), ended(3, 0)));
    let (status, said) = run(&["-q"], "./prog");
    assert_eq!((status, said.as_str()), (Some(0), ""));
    let once = "./prog; [ -e failed ] && exit 0; touch failed; exit 5";
    let (status, said) = run(&["--no-repeat"], once);
    assert_eq!(status, Some(5), "{said}");
    assert!(
        said.contains(differ) && said.contains(&ended(5, 0)),
        "{said}"
    );
}

/// What a suite prints of its own with these options, and its exit status.
fn try_suite(dir: &Path, options: &[&str], command_of_suite: &[&str]) -> (Option<i32>, String) {
    let all = [&["suite", "-q"], options, &["--"], command_of_suite].concat();
    let output = command(REWRITE, dir).args(all).output().unwrap();
    (output.status.code(), stderr(&output))
}

/// A newer program that another compiler linked is not replaced by copies of the earlier one; a copy that was stripped
/// is of the same build.
#[test]
fn suite_refuses_programs_that_were_linked_again_without_copies() {
    let dir = two_copies();
    let dir = dir.path();
    let run_suite = |out: &str| try_suite(dir, &["-o", out], &["./prog"]);
    let fine = (Some(0), String::new());
    run(command(llvm("llvm-strip"), dir).arg("prog"));
    assert_eq!(run_suite("p3"), fine);
    let profile = dir.join("p3/prog.p3/profile.p3prof");
    let before = std::fs::read(&profile).unwrap();
    std::fs::write(dir.join("new.c"), format!("{PROGRAM}int more;\n")).unwrap();
    let link = || run(command(llvm("clang"), dir).args(["new.c", "-o", "prog"]));
    link();
    let refused = "prog: linked again after p3-rewrite build, so the copies are outdated; build again from scratch \
                   (make clean), or put the outdated copies back (p3-rewrite use 0 -o p3)\n";
    assert_eq!(run_suite("p3"), (Some(2), format!("error: {refused}")));
    assert_eq!(std::fs::read(&profile).unwrap(), before);
    // A build that finds nothing to do changes nothing of it.
    let said = stderr(&rewrite(dir, &["build", "-q", "-o", "p3", "--", "true"]));
    assert_eq!(said, format!("warning: {refused}"));
    rewrite(dir, &["use", "0", "-o", "p3"]);
    assert_eq!(run_suite("p3"), fine);

    let build = [
        "build", "-q", "-k", "2", "-o", "other", "--", "cc", "new.c", "-o", "prog",
    ];
    rewrite(dir, &build);
    let warned = "warning: prog: last linked by another build than the one that is run now; build again if sources \
                  changed in between\n";
    assert_eq!(run_suite("p3"), (Some(0), warned.to_string()));
    assert_eq!(run_suite("p3"), fine);
}

/// Sources changed after the build, and the command of the suite is what links the program again, beside it.
#[test]
fn suite_whose_command_links_a_newer_program_is_refused() {
    let dir = folder(&[
        ("prog.c", PROGRAM),
        (
            "Makefile",
            "prog: prog.c\n\t$(CC) -O1 prog.c -o $@\ncheck: prog\n\t./prog\n",
        ),
    ]);
    let dir = dir.path();
    let build = ["build", "-q", "-k", "2", "-o", "p3", "--", "make", "-s"];
    rewrite(dir, &build);
    let run_suite = || try_suite(dir, &["-o", "p3"], &["make", "-s", "check"]);
    let fine = (Some(0), String::new());
    assert_eq!(run_suite(), fine);
    // Linked again without a change, by default in one copy.
    run(command("touch", dir).arg("prog.c"));
    assert_eq!(run_suite(), fine);
    assert!(dir.join("prog.p3/bin/copy-0").exists());
    assert!(!dir.join("prog.p3/bin/copy-1").exists());
    let newer = format!("{PROGRAM}int more(int n) {{ return n > 1 ? n : 2; }}\n");
    std::fs::write(dir.join("prog.c"), newer).unwrap();
    // The second time, the program in place is the newer one from the start.
    for _ in 0..2 {
        let (status, said) = run_suite();
        assert!(
            said.starts_with("error: prog: linked again after p3-rewrite build, so "),
            "{said}"
        );
        assert_eq!((status, said.lines().count()), (Some(2), 1));
    }
    std::fs::remove_file(dir.join("prog")).unwrap();
    rewrite(dir, &build);
    assert_eq!(run_suite(), fine);
}

/// A command that fails before any program runs is run once, and earlier profiles are kept.
#[test]
fn suite_stops_after_a_first_round_that_failed_and_ran_nothing() {
    let dir = two_copies();
    let dir = dir.path();
    rewrite(dir, &["suite", "-q", "-o", "p3", "--", "./prog"]);
    let script = "echo >>rounds; exit 7";
    let (status, said) = try_suite(dir, &["-o", "p3"], &["sh", "-c", script]);
    let expected = "warning: no program of this build ran (prog): the command has to run them where they were built; \
                    profiles of earlier runs are kept\n\
                    warning: your command ended with status 7 in the round of copy 0; \
                    the other rounds are left out, and this status is passed on\n";
    assert_eq!((status, said.as_str()), (Some(7), expected));
    assert_eq!(std::fs::read(dir.join("rounds")).unwrap().len(), 1);
    assert!(dir.join("p3/prog.p3/profile.p3prof").exists());
}

/// The message names what was typed, and not the tools by which rounds are started.
#[test]
fn suite_names_a_command_that_cannot_be_run() {
    let dir = two_copies();
    let dir = dir.path();
    for (command, problem) in [
        ("./porg", "there is no such command; name one after --"),
        ("mkae", "there is no such command; name one after --"),
        (
            "make check",
            "there is no such command; leave out the quotes around it, or use sh -c",
        ),
        (
            "./prog.c",
            "this file cannot be executed; name a program or script after --, or use chmod +x",
        ),
    ] {
        let expected = (Some(2), format!("error: {command}: {problem}\n"));
        assert_eq!(try_suite(dir, &["-o", "p3"], &[command]), expected);
    }
}
