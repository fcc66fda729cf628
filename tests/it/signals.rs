//! A signal makes a program dump, reset or rotate its profile, without code of its own.

use crate::support::driver::{self, SANITIZERS};
use crate::support::{PROF, copy_modules, exits_of, link, module, parsed, rewrite, run, runtime};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Threads count in arrays and in a hash table: `many` has 65,536 paths. `raise`: a signal to itself between two
/// phases, in which the other threads wait; `storm`: as many as its parent sends.
const PROGRAM: &str = r#"
    #include <pthread.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    __attribute__((noinline)) static int step(int i) {
        int sum = 0;
        for (int j = 0; j < i % 7; j++) sum += j % 3 ? j : i;
        return sum;
    }
    #define S(k) if (i >> k & 1) sum += k; else sum ^= k;
    __attribute__((noinline)) static int many(unsigned i) {
        volatile int sum = 0;
        S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) S(12) S(13) S(14) S(15)
        return sum;
    }
    static int rounds;
    static volatile int sink;
    static void *work(void *of) {
        int sum = 0;
        for (int i = 0; i < rounds; i++)
            sum += step(i) + many((unsigned)i * 2654435761u + (unsigned)(long)of);
        return (void *)(long)sum;
    }
    static void all(int threads, int n) {
        pthread_t ids[8];
        rounds = n;
        for (long t = 1; t < threads; t++) pthread_create(&ids[t], 0, work, (void *)t);
        sink += (int)(long)work(0);
        for (int t = 1; t < threads; t++) pthread_join(ids[t], 0);
    }
    static void own(int n) { sink = 1000 + n; }
    int main(int argc, char **argv) {
        int threads = atoi(argv[2]), n = atoi(argv[3]);
        if (strcmp(argv[1], "own") == 0) signal(SIGUSR1, own);
        puts("begun");
        fflush(stdout);
        all(threads, n);
        if (strcmp(argv[1], "storm") != 0) {
            raise(SIGUSR1);
            all(threads, n / 10);
        }
        return 0;
    }"#;

struct Program {
    dir: tempfile::TempDir,
    exe: PathBuf,
}

impl Program {
    /// The runtime is compiled with these flags.
    fn new(options: &[&str], flags: &[&str]) -> Program {
        let dir = crate::support::folder();
        let path = dir.path();
        let modules = [module(
            "p.c",
            PROGRAM,
            &["-O1", "-fno-inline"],
            &path.join("input"),
        )];
        rewrite(&modules, options, &path.join("out"));
        let exe = path.join("p.exe");
        let copy = copy_modules(&modules, &path.join("out"), 0);
        if flags.is_empty() {
            link(&copy, runtime(), &["-O1"], &exe);
        } else {
            link(
                &copy,
                &driver::runtime(flags),
                &[&["-O1"], flags].concat(),
                &exe,
            );
        }
        Program { dir, exe }
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn raw(&self) -> PathBuf {
        self.out().join("raw")
    }

    fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let _ = std::fs::remove_dir_all(self.raw());
        std::fs::create_dir_all(self.raw()).unwrap();
        let mut command = Command::new(&self.exe);
        command.args(arguments).envs(variables.iter().copied());
        command.env("P3_PROFILE_FILE", self.raw().join("%k-%p.p3raw"));
        command.stdin(Stdio::null());
        command
    }

    /// Merges what is there, whether processes ended or not: how often a function reached an exit.
    fn calls(&self, function: &str) -> u64 {
        exits_of(function, &self.profile("merged.p3prof"))
    }

    fn profile(&self, name: &str) -> PathBuf {
        let merged = self.dir.path().join(name);
        let mut merge = Command::new(PROF);
        merge
            .arg("merge")
            .arg("-m")
            .arg(self.out().join("manifest.json"));
        run(merge.arg("-o").arg(&merged).arg(self.raw()));
        merged
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self
            .raw()
            .read_dir()
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        files.sort();
        files
    }
}

/// Runs it, sends it so many signals while it works, and expects nothing on stderr.
fn storm(program: &Program, arguments: &[&str], variables: &[(&str, &str)], signals: usize) {
    use std::io::{BufRead, BufReader};
    let mut command = program.command(arguments, variables);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let id = child.id().to_string();
    for _ in 0..signals {
        // It may have ended.
        let _ = Command::new("kill")
            .args(["-s", "USR1", &id])
            .stderr(Stdio::null())
            .status();
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.is_empty(),
        "{:?}: {stderr}",
        output.status
    );
}

fn quiet(output: &Output) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.is_empty(),
        "{:?}: {stderr}",
        output.status
    );
}

const ROTATE: [(&str, &str); 2] = [("P3_SIGNAL", "USR1"), ("P3_ON_SIGNAL", "rotate")];

/// The files that a storm of signals makes the program leave. Where a machine is busy it may end before two of them
/// have come: then there is another storm.
fn rotated(program: &Program, arguments: &[&str], signals: usize) -> Vec<PathBuf> {
    for _ in 0..50 {
        storm(program, arguments, &ROTATE, signals);
        let files = program.files();
        if files.len() > 2 {
            return files;
        }
    }
    panic!("no more than two files, 50 times");
}

/// Files of rotated counts add up to what the program counts undisturbed, whatever signals come in between.
fn rotating(options: &[&str], flags: &[&str], threads: &str, rounds: &str, signals: usize) {
    let program = Program::new(options, flags);
    let arguments = ["storm", threads, rounds];
    quiet(&program.command(&arguments, &[]).output().unwrap());
    assert_eq!(program.files().len(), 1);
    let expected = program.profile("expected.p3prof");
    let files = rotated(&program, &arguments, signals);
    assert!(
        files
            .iter()
            .all(|f| f.extension().is_some_and(|e| e == "p3raw")),
        "{files:?}"
    );
    let merged = program.profile("merged.p3prof");
    // Path by path: 65,536 of them.
    run(Command::new(PROF)
        .arg("compare")
        .arg(&expected)
        .arg(&merged));
    // Together they are one run, and one of them is none.
    let strict = |profile: &Path| {
        let mut show = Command::new(PROF);
        show.args(["show", "--strict"])
            .arg(profile)
            .output()
            .unwrap()
    };
    // Sanitizers leave threads of their own behind.
    assert!(!flags.is_empty() || strict(&merged).status.success());
    std::fs::remove_file(&files[0]).unwrap();
    assert_eq!(
        strict(&program.profile("some.p3prof")).status.code(),
        Some(1)
    );
    assert_eq!(
        exits_of("step", &merged),
        threads.parse::<u64>().unwrap() * rounds.parse::<u64>().unwrap()
    );
}

#[test]
fn the_sum_of_rotated_files() {
    rotating(&["--scheme", "sbl"], &[], "1", "1500000", 40);
}

#[test]
fn the_sum_of_rotated_files_of_threads() {
    rotating(
        &["--scheme", "sbl", "--update", "atomic"],
        &[],
        "4",
        "500000",
        40,
    );
}

#[test]
fn sanitizers() {
    for flags in SANITIZERS {
        rotating(
            &["--scheme", "sbl", "--update", "atomic"],
            flags,
            "4",
            "40000",
            20,
        );
    }
}

/// After a reset, what came before is not counted: not the work, and not what the handler interrupted.
#[test]
fn only_counts_after_a_reset() {
    for (options, threads) in [
        (&["--scheme", "sbl"][..], 1),
        (&["--scheme", "sbl", "--update", "atomic"], 4),
        (&["--scheme", "edge", "-k", "1"], 1),
    ] {
        let program = Program::new(options, &[]);
        let reset = [("P3_SIGNAL", "10"), ("P3_ON_SIGNAL", "reset")];
        let arguments = ["raise", &threads.to_string(), "10000"];
        quiet(&program.command(&arguments, &reset).output().unwrap());
        assert_eq!(program.files().len(), 1);
        let merged = program.profile("merged.p3prof");
        let calls = if options.contains(&"edge") {
            let shown = run(Command::new(PROF)
                .args(["show", "--edges", "--format", "json"])
                .arg(&merged));
            let shown = parsed(&shown.stdout);
            let functions = shown["functions"].as_array().unwrap();
            let step = functions.iter().find(|f| f["name"] == "step").unwrap();
            step["entry"].as_u64().unwrap()
        } else {
            exits_of("step", &merged)
        };
        assert_eq!(calls, threads * 1000, "{options:?}");
    }
}

/// A dump is there while the program goes on, also where no file could be made at first.
#[test]
fn a_dump_merges() {
    let program = Program::new(&["--scheme", "sbl"], &[]);
    let folder = program.out().join("later");
    std::fs::write(&folder, "").unwrap();
    let mut command = program.command(&["storm", "1", "2000000000"], &[("P3_SIGNAL", "SIGUSR1")]);
    command.env("P3_PROFILE_FILE", folder.join("%p.p3raw"));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Its counts are in memory, and it listens.
    let mut begun = [0; 6];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut begun)
        .unwrap();
    std::fs::remove_file(&folder).unwrap();
    let file = folder.join(format!("{}.p3raw", child.id()));
    let merged = program.dir.path().join("dump.p3prof");
    let signal = || run(Command::new("kill").args(["-s", "USR1", &child.id().to_string()]));
    // Each dump takes the place of the one before.
    let calls = || {
        signal();
        std::thread::sleep(Duration::from_millis(10));
        let mut merge = Command::new(PROF);
        merge
            .arg("merge")
            .arg("-m")
            .arg(program.out().join("manifest.json"));
        let done = merge.arg("-o").arg(&merged).arg(&file).output().unwrap();
        done.status.success() && exits_of("step", &merged) > 0
    };
    assert!((0..1000).any(|_| calls()), "no dump with counts");
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Samples that were rotated are merged: what was sampled is in one of the files, and blocks add up.
#[test]
fn rotated_samples() {
    let options = ["--scheme", "subpath", "--period", "1000", "--seed", "1"];
    let program = Program::new(&options, &[]);
    let blocks = |profile: &Path| {
        let shown = run(Command::new(PROF)
            .args(["show", "--format", "json"])
            .arg(profile));
        let shown = parsed(&shown.stdout);
        shown["program"]["blocks"].as_f64().unwrap()
    };
    let arguments = ["storm", "2", "2000000"];
    quiet(&program.command(&arguments, &[]).output().unwrap());
    let expected = blocks(&program.profile("expected.p3prof"));
    rotated(&program, &arguments, 30);
    let found = blocks(&program.profile("merged.p3prof"));
    assert!(
        (found / expected - 1.0).abs() < 0.05,
        "{found} instead of {expected}"
    );
}

/// A handler that the program installs later has the signal.
#[test]
fn the_programs_handler_wins() {
    let program = Program::new(&["--scheme", "sbl"], &[]);
    quiet(
        &program
            .command(&["own", "1", "1000"], &ROTATE)
            .output()
            .unwrap(),
    );
    assert_eq!(program.files().len(), 1);
    assert_eq!(program.calls("own"), 1);
}

/// What cannot be done is said in one line, and the program runs as it would.
#[test]
fn signals_that_cannot_be_used_are_refused() {
    let program = Program::new(&["--scheme", "sbl"], &[]);
    for (signal, way, said) in [
        ("KILL", "dump", "cannot be caught"),
        ("SIGSTOP", "reset", "cannot be caught"),
        ("32", "reset", "cannot be caught"),
        ("SEGV", "rotate", "the signal of a fault"),
        ("USR3", "dump", "no signal has this name"),
        ("0", "dump", "no signal has this name"),
        ("-1", "dump", "no signal has this name"),
        ("10x", "dump", "no signal has this name"),
        ("99999999999999999999", "dump", "no signal has this name"),
        ("RTMIN+99", "dump", "no signal has this name"),
        ("USR1", "rotates", "neither dump, reset nor rotate"),
    ] {
        let variables = [("P3_SIGNAL", signal), ("P3_ON_SIGNAL", way)];
        let output = program
            .command(&["storm", "1", "1000"], &variables)
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.success() && stderr.lines().count() == 1,
            "{signal}: {stderr}"
        );
        assert!(
            stderr.starts_with("p3: P3_") && stderr.contains(said),
            "{signal}: {stderr}"
        );
        assert_eq!(program.calls("step"), 1000);
    }
    for signal in ["RTMIN", "RTMAX-1", "RTMIN+2", "SIGTERM", "15"] {
        let output = program
            .command(&["storm", "1", "1000"], &[("P3_SIGNAL", signal)])
            .output()
            .unwrap();
        quiet(&output);
    }
    // Files that processes share are not rotated.
    let mut command = program.command(&["raise", "1", "1000"], &ROTATE);
    let pattern = program.raw().join("%k-%m.p3raw");
    quiet(&command.env("P3_PROFILE_FILE", &pattern).output().unwrap());
    let first = program.files().len();
    assert_eq!(first, 2, "the first process has the file to itself");
}
