//! Shadow profiling: that nothing is felt of shadows, and that what they count is what ran.

mod faults;
mod forms;
mod kernels;
mod passes;
mod unfelt;

use crate::support::{
    Behaviour, Made, PROF, copy_modules, disassemble, link, llvm, module, objects_folder, parsed,
    processes_of, project, rewrite, run, runtime, wait_until,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A program as it is, and with shadows, in `dir`.
struct Program {
    dir: PathBuf,
    native: PathBuf,
    shadowed: PathBuf,
}

impl Program {
    /// In a folder of this test's: programs are found by where they lie.
    fn new(source: &str, flags: &[&str], dir: &Path) -> Program {
        static BUILT: Made<PathBuf> = Made::new();
        let name = format!("{source}{}", flags.concat());
        let built = BUILT.get(&name, || {
            let folder = objects_folder().join(&name);
            build(source, flags, &folder);
            folder
        });
        run(Command::new("cp").arg("-rT").arg(built).arg(dir));
        Program {
            dir: dir.to_path_buf(),
            native: dir.join("native"),
            shadowed: dir.join("shadowed"),
        }
    }

    /// Runs it in a new folder, with input: the folder, what it did, and what it said.
    fn run(&self, exe: &Path, name: &str, arguments: &[&str], knobs: &str) -> (PathBuf, Output) {
        let (folder, mut command) = self.command(exe, name, arguments, knobs);
        (folder, command.output().unwrap())
    }

    /// What runs it in a new folder, with input: the folder, and the command.
    fn command(
        &self,
        exe: &Path,
        name: &str,
        arguments: &[&str],
        knobs: &str,
    ) -> (PathBuf, Command) {
        let folder = self.dir.join(format!("run-{name}"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::create_dir(self.raw(name).parent().unwrap()).unwrap();
        let input = self.dir.join("input");
        let lines: String = (0..5000).map(|i| format!("{i}\n")).collect();
        std::fs::write(&input, lines).unwrap();
        let mut command = Command::new(exe);
        command
            .args(arguments)
            .current_dir(&folder)
            .env("P3_PROFILE_FILE", self.raw(name))
            .env("P3_SHADOW", knobs)
            .stdin(std::fs::File::open(input).unwrap());
        (folder, command)
    }

    /// A script in its folder.
    fn script(&self, name: &str, text: &str) -> PathBuf {
        let script = self.dir.join(name);
        std::fs::write(&script, text).unwrap();
        run(Command::new("chmod").arg("+x").arg(&script));
        script
    }

    fn raw(&self, name: &str) -> PathBuf {
        self.dir.join(format!("raw-{name}/%p.p3raw"))
    }

    /// `show --format json` of what the run left.
    fn shown(&self, name: &str) -> Value {
        let merged = self.merged(name);
        let mut show = Command::new(PROF);
        let shown = run(show.arg("show").arg(&merged).args(["--format", "json"]));
        parsed(&shown.stdout)
    }

    /// What `show` says of it to people.
    fn summary(&self, name: &str) -> String {
        let shown = run(Command::new(PROF).arg("show").arg(self.merged(name)));
        let text = String::from_utf8(shown.stdout).unwrap();
        // Lines are broken where the width is.
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn merged(&self, name: &str) -> PathBuf {
        let merged = self.dir.join(format!("{name}.p3prof"));
        let mut merge = Command::new(PROF);
        merge.arg("merge").arg("-m");
        merge.arg(self.dir.join("out/manifest.json"));
        run(merge
            .arg("-o")
            .arg(&merged)
            .arg(self.dir.join(format!("raw-{name}"))));
        merged
    }
}

/// A module of `source`, what is made of it in `out`, and both programs.
fn build(source: &str, flags: &[&str], dir: &Path) {
    let text = std::fs::read_to_string(project("testdata/shadow").join(source)).unwrap();
    let modules = [module(source, &text, flags, dir)];
    let out = dir.join("out");
    rewrite(&modules, &["--scheme", "shadow"], &out);
    link(&modules, &[], &["-O2"], &dir.join("native"));
    let copies = copy_modules(&modules, &out, 0);
    link(&copies, runtime(), &["-O2"], &dir.join("shadowed"));
}

/// `others`: C files and objects.
fn compile_with(modules: &[PathBuf], others: &[PathBuf], flags: &[&str], exe: &Path) {
    let mut clang = Command::new(llvm("clang++"));
    clang.args(["-O2", "-w", "-x", "ir"]).args(modules);
    for other in others {
        let is_source = other.extension().is_some_and(|e| e == "c");
        clang
            .args(["-x", if is_source { "c" } else { "none" }])
            .arg(other);
    }
    clang.args(["-x", "none"]).args(flags);
    run(clang.args(["-lm", "-pthread", "-o"]).arg(exe));
}

fn behaviour(output: &Output) -> Behaviour {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    Behaviour {
        stdout: String::from_utf8_lossy(&output.stdout).into(),
        status: output.status.to_string(),
    }
}

/// The files of a folder with their contents; of what cannot be read, the names.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap());
    entries
        .map(|e| {
            let name = e.file_name().into_string().unwrap();
            (name, std::fs::read(e.path()).unwrap_or_default())
        })
        .collect()
}

/// Whether all processes of a program end. The kernel kills a twin with its shadow, which the program waits for; the
/// twin ends a little later.
fn are_gone(exe: &Path) -> bool {
    wait_until(|| processes_of(exe).is_empty())
}

/// Runs modes of `source` with and without shadows, which must not differ; the system calls that shadows met, with
/// their treatment. With `P3_SHADOWS` each mode is longer, and runs again and again until there were so many.
fn not_felt(source: &str, modes: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    let dir = crate::support::folder();
    let program = Program::new(source, &["-O1"], dir.path());
    let wanted = std::env::var("P3_SHADOWS").map_or(0, |n| n.parse().unwrap());
    let (longer, knobs) = if wanted > 0 {
        (10, "load=4,burst=50k,cost=100%")
    } else {
        (1, "load=1,burst=200k,cost=100%")
    };
    let mut met = BTreeSet::new();
    for (mode, rounds) in modes {
        let rounds: u32 = rounds.parse().unwrap();
        let rounds = (longer * rounds).to_string();
        let arguments = [*mode, &rounds];
        let native = format!("{mode}-native");
        let (expected, output) = program.run(&program.native, &native, &arguments, "");
        let expects = behaviour(&output);
        let mut shadows = 0;
        for n in 1.. {
            let name = format!("{mode}-{n}");
            let (found, output) = program.run(&program.shadowed, &name, &arguments, knobs);
            assert_eq!(behaviour(&output), expects, "{mode}");
            assert_eq!(output.status.code(), Some(3), "{mode}");
            assert_eq!(files(&found), files(&expected), "{mode}");
            assert!(are_gone(&program.shadowed), "{mode}");
            let shown = program.shown(&name);
            assert_eq!(shown["not_written"], 0, "{mode}");
            for call in shown["calls"].as_array().unwrap() {
                let text = |name: &str| call[name].as_str().unwrap().to_string();
                met.insert((text("call"), text("treatment")));
            }
            shadows += shown["shadows"].as_u64().unwrap();
            if shadows >= wanted {
                break;
            }
        }
        if wanted > 0 {
            println!("{mode}: as native with {shadows} shadows");
        }
    }
    if wanted > 0 {
        println!("{met:?}");
    }
    met
}

fn assert_met(met: &BTreeSet<(String, String)>, expected: &[(&str, &str)]) {
    for (call, treatment) in expected {
        let pair = (call.to_string(), treatment.to_string());
        assert!(met.contains(&pair), "{pair:?} of {met:?}");
    }
}

#[test]
fn files_are_not_felt() {
    let met = not_felt(
        "calls.c",
        &[("write", "20000"), ("read", "20000"), ("names", "6000")],
    );
    let expected = [
        ("write", "assumed"),
        ("rename", "assumed"),
        ("unlink", "assumed"),
        ("openat", "imitated"),
    ];
    assert_met(&met, &expected);
}

#[test]
fn peers_feel_nothing() {
    let modes = [
        ("pipes", "20000"),
        ("sockets", "20000"),
        ("connections", "4000"),
        ("standard", "20000"),
    ];
    let met = not_felt("calls.c", &modes);
    let expected = [
        ("write", "assumed"),
        ("sendto", "assumed"),
        ("socket", "ended the burst"),
    ];
    assert_met(&met, &expected);
}

#[test]
fn other_processes_feel_nothing() {
    let modes = [
        ("shared", "20000"),
        ("signals", "20000"),
        ("kills", "20000"),
        ("children", "3000"),
        ("semaphores", "20000"),
    ];
    let met = not_felt("calls.c", &modes);
    let expected = [("kill", "assumed"), ("wait4", "ended the burst")];
    assert_met(&met, &expected);
}

#[test]
fn the_program_itself_feels_nothing() {
    let modes = [
        ("timers", "5000"),
        ("threads", "40000"),
        ("memory", "4000"),
        ("asks", "20000"),
    ];
    let met = not_felt("calls.c", &modes);
    assert_met(&met, &[("getpid", "imitated"), ("getcwd", "made")]);
}

#[test]
fn programs_with_rare_calls_do_not_feel_shadows() {
    let modes = [
        ("terminal", "20000"),
        ("rings", "20000"),
        ("queues", "20000"),
        ("events", "20000"),
        ("connects", "4000"),
        ("orphans", "20000"),
    ];
    let met = not_felt("effects.c", &modes);
    let expected = [("connect", "ended the burst"), ("write", "assumed")];
    assert_met(&met, &expected);
}

/// Programs are interrupted behind the first byte of functions whose first instruction has no more, one shadow in
/// twelve here. A nop is before it only where a loop is the first thing in a function, and where there is neither a
/// call nor a choice.
#[test]
fn entries_of_one_byte() {
    let dir = crate::support::folder();
    let program = Program::new("entries.c", &["-O2"], dir.path());
    let copy = &copy_modules(&[dir.path().join("entries.bc")], &dir.path().join("out"), 0)[0];
    assert_eq!(with_nops(copy), ["last", "looping"]);
    let (_, output) = program.run(
        &program.shadowed,
        "entries",
        &[],
        "load=4,burst=100k,cost=100%",
    );
    let (_, native) = program.run(&program.native, "native", &[], "");
    assert_eq!(behaviour(&output), behaviour(&native));
    let shown = program.shown("entries");
    assert!(shown["bursts"].as_u64().unwrap() > 0, "{shown}");
    for end in shown["ends"].as_array().unwrap() {
        let why = end["reason"].as_str().unwrap();
        assert!(!why.starts_with("signal"), "{shown}");
    }
}

/// The native functions of a module that begin with two bytes.
fn with_nops(module: &Path) -> Vec<String> {
    let text = disassemble(module);
    let wanted = |group: &str| {
        let line = format!("attributes #{group} = {{");
        let found = text.lines().find(|l| l.starts_with(&line));
        found.is_some_and(|l| l.contains("prologue-short-redirect"))
    };
    let mut names = Vec::new();
    for line in text.lines().filter(|l| l.starts_with("define ")) {
        let name = line
            .split('@')
            .nth(1)
            .and_then(|rest| rest.split('(').next());
        let group = line
            .rsplit(" #")
            .next()
            .and_then(|rest| rest.split(' ').next());
        let name = name.unwrap_or_default();
        if !name.starts_with("__p3_") && group.is_some_and(wanted) {
            names.push(name.to_string());
        }
    }
    names.sort();
    names
}

/// One shadow that counts for as long as the program runs: no path more often than the exact profile has it, none that
/// it does not have, and most of them.
#[test]
fn shadows_count_what_runs() {
    assert_counts("shapes.cpp", "-O1");
}

/// The same of loops whose variables are handed over as what they can be computed from. Which ones these are depends on
/// how optimisers write the loops.
#[test]
fn shadows_count_what_runs_from_addresses_and_sums() {
    for level in ["-O1", "-O2"] {
        assert_counts("places.c", level);
    }
}

fn assert_counts(source: &str, level: &str) {
    let dir = crate::support::folder();
    let program = Program::new(source, &[level], dir.path());
    let expected = behaviour(&program.run(&program.native, "native", &[], "").1);
    let exact = dir.path().join("exact");
    let name = source.split('.').next().unwrap();
    let modules = [dir.path().join(format!("{name}.bc"))];
    rewrite(&modules, &["--scheme", "sbl"], &exact);
    let exe = dir.path().join("counting");
    let copies = copy_modules(&modules, &exact, 0);
    link(&copies, runtime(), &["-O2"], &exe);
    assert_eq!(crate::support::execute(&exe, &exact), expected);
    let exact = crate::support::merge(&exact);
    let of = |profile: &Value| profile["functions"].as_array().unwrap().clone();
    let shown = run(Command::new(PROF)
        .arg("show")
        .arg(&exact)
        .args(["--format", "json"]));
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for f in of(&parsed(&shown.stdout)) {
        for path in f["paths"].as_array().unwrap() {
            let key = (f["name"].to_string(), path["id"].to_string());
            counts.insert(key, path["count"].as_u64().unwrap());
        }
    }
    // When a shadow begins is up to the clock: of several runs, some have some.
    let mut found = BTreeSet::new();
    for i in 0..8 {
        let name = format!("shadowed-{i}");
        let ran = program
            .run(&program.shadowed, &name, &[], "load=1,burst=20M,cost=100%")
            .1;
        assert_eq!(behaviour(&ran), expected);
        for path in program.shown(&name)["paths"].as_array().unwrap() {
            let key = (path["function"].to_string(), path["id"].to_string());
            let count = path["count"].as_u64().unwrap();
            // What a shadow counts, the program ran; shadows may overlap.
            let all = counts.get(&key).copied().unwrap_or(0);
            assert!(count <= all * 8, "{key:?}: {count} of {all}");
            found.insert(key);
        }
    }
    let (found, all) = (found.len(), counts.len());
    assert!(found * 2 > all, "{found} of {all}");
}

/// An interpreter that stays in one activation is counted from its jump on, under the ids that sbl gives: every path,
/// as often as it runs.
#[test]
fn interpreters_are_counted() {
    let dir = crate::support::folder();
    let program = Program::new("interpreter.c", &["-O1"], dir.path());
    let expected = behaviour(&program.run(&program.native, "native", &[], "").1);
    let ran = program.run(
        &program.shadowed,
        "estimated",
        &[],
        "load=1,burst=1M,cost=100%",
    );
    assert_eq!(behaviour(&ran.1), expected);
    let (exact, exe) = counting(dir.path(), "interpreter", &[]);
    assert_eq!(crate::support::execute(&exe, &exact), expected);
    let exact = crate::support::merge(&exact);
    let figures = accuracy(&program.merged("estimated"), &exact);
    let hot = &figures["hot"][0];
    assert!(hot["paths"].as_u64().unwrap() >= 10, "{figures}");
    assert_eq!(hot["seen"], hot["paths"], "{figures}");
    // How many bursts each of the two loops has is up to the clock.
    assert!(figures["overlap"].as_f64().unwrap() > 0.5, "{figures}");
    let shown = program.shown("estimated");
    let counted: BTreeSet<&str> = shown["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["function"].as_str().unwrap())
        .collect();
    assert!(counted.is_superset(&["run", "walk"].into()), "{counted:?}");
}

/// Twins come by the place that they are told as often as the shadow's code did, or nothing would stop them in time:
/// there is one in tight loops that few enough come by, the loop around them or a call.
#[test]
fn twins_time_bursts() {
    let dir = crate::support::folder();
    let program = Program::new("phases.c", &["-O2"], dir.path());
    let expected = behaviour(&program.run(&program.native, "native", &["600"], "").1);
    let knobs = "load=1,burst=40M,cost=100%";
    let ran = program.run(&program.shadowed, "estimated", &["600"], knobs);
    assert_eq!(behaviour(&ran.1), expected);
    let shown = program.shown("estimated");
    let [bursts, untimed] = ["bursts", "untimed"].map(|n| shown[n].as_u64().unwrap());
    assert!(bursts > 0, "{shown}");
    assert!(untimed * 2 < bursts, "{untimed} of {bursts}");
}

/// The folder of module `name` in `dir`, rewritten to count all its paths, and the program.
fn counting(dir: &Path, name: &str, options: &[&str]) -> (PathBuf, PathBuf) {
    let (folder, exe) = (dir.join("exact"), dir.join("counting"));
    let modules = [dir.join(name).with_extension("bc")];
    rewrite(&modules, &[&["--scheme", "sbl"], options].concat(), &folder);
    let copies = copy_modules(&modules, &folder, 0);
    link(&copies, runtime(), &["-O2"], &exe);
    (folder, exe)
}

/// `p3-prof accuracy` of an estimated profile against an exact one.
fn accuracy(estimated: &Path, exact: &Path) -> Value {
    let mut accuracy = Command::new(PROF);
    accuracy.arg("accuracy").arg(estimated);
    accuracy.arg("--against").arg(exact);
    let figures = run(accuracy.args(["--format", "json"]));
    parsed(&figures.stdout)
}

/// Estimates of a program that does the same all the time, against the exact profile.
#[test]
fn hot_paths_are_found() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    let arguments = ["threads", "40000"];
    program.run(
        &program.shadowed,
        "estimated",
        &arguments,
        "load=1,burst=300k,cost=100%",
    );
    let (exact, exe) = counting(dir.path(), "calls", &["--update", "atomic"]);
    let status = Command::new(&exe)
        .args(arguments)
        .env("P3_PROFILE_FILE", exact.join("raw/%p.p3raw"))
        .stdout(Stdio::null())
        .status();
    assert_eq!(status.unwrap().code(), Some(3));
    let exact = crate::support::merge(&exact);
    let figures = accuracy(&program.merged("estimated"), &exact);
    let hot = &figures["hot"][0];
    assert!(hot["paths"].as_u64().unwrap() >= 2, "{figures}");
    // How many bursts there are is up to the clock.
    let found = hot["found"].as_u64().unwrap();
    assert!(found * 2 >= hot["paths"].as_u64().unwrap(), "{figures}");
    assert!(figures["overlap"].as_f64().unwrap() > 0.6, "{figures}");
    // What takes exact counts takes no estimates.
    let mut compare = Command::new(PROF);
    compare.arg("compare").arg(program.merged("estimated"));
    let refused = compare.arg(&exact).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("this needs exact counts"), "{said}");
}

/// Whoever kills the program leaves no shadow.
#[test]
fn shadows_die_with_the_program() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    let mut child = Command::new(&program.shadowed)
        .args(["threads", "100000000"])
        .env("P3_PROFILE_FILE", dir.path().join("%p.p3raw"))
        .env("P3_SHADOW", "load=64,burst=100G,limit=1000s,cost=100%")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let within = |seconds, holds: &dyn Fn(usize) -> bool| {
        let end = Instant::now() + Duration::from_secs(seconds);
        while !holds(processes_of(&program.shadowed).len()) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        holds(processes_of(&program.shadowed).len())
    };
    let forked = within(300, &|n| n >= 3);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(forked, "no shadow");
    assert!(within(100, &|n| n == 0), "they live on");
}

/// Shadows that are killed, and those without room for a record, are no matter to the program.
#[test]
fn shadows_without_space_are_not_felt() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    let arguments = ["threads", "80000"];
    let expected = behaviour(&program.run(&program.native, "native", &arguments, "").1);
    let script = format!(
        "#!/bin/sh\nulimit -f 56\nexec {} \"$@\"\n",
        program.shadowed.display()
    );
    let sh = program.script("limited.sh", &script);
    let (_, output) = program.run(&sh, "limited", &arguments, "load=1,burst=100k,cost=100%");
    assert_eq!(behaviour(&output), expected);
    let shown = program.shown("limited");
    assert!(shown["not_written"].as_u64().unwrap() > 0, "{shown}");
}

/// What shadows cost is measured, and they are as rare as may be for that: here each makes the program copy 48 MB.
#[test]
fn costs_make_shadows_rare() {
    let dir = crate::support::folder();
    let program = Program::new("large.c", &["-O1"], dir.path());
    let (_, native) = program.run(&program.native, "native", &["60"], "");
    let shown = |name: &str, cost: &str| {
        let knobs = format!("load=1,burst=100k,cost={cost}");
        let (_, output) = program.run(&program.shadowed, name, &["60"], &knobs);
        assert_eq!(behaviour(&output), behaviour(&native));
        program.shown(name)
    };
    let (rare, frequent) = (shown("rare", "1%"), shown("frequent", "100%"));
    let number = |of: &Value, name: &str| of[name].as_f64().unwrap();
    assert_eq!(number(&rare, "cost"), 0.01);
    assert_eq!(number(&frequent, "cost"), 1.0);
    assert!(number(&frequent, "spent") > 0.0, "{frequent}");
    assert!(number(&frequent, "processor_time") > 0.0, "{frequent}");
    let [few, many] = [&rare, &frequent].map(|of| number(of, "shadows"));
    assert!(3.0 * few < many, "{few} and {many}");
}

#[test]
fn knobs_that_are_wrong() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    for (i, knobs) in [
        "load",
        "load=x",
        "load=0",
        "burst=1",
        "what=3",
        "cost=0",
        "cost=101%",
        "load=1;burst=3M",
    ]
    .iter()
    .enumerate()
    {
        let (_, output) = program.run(&program.shadowed, &format!("{i}"), &["asks", "10"], knobs);
        assert_eq!(output.status.code(), Some(3));
        let said = "p3: shadows: P3_SHADOW is not understood; write, for example, \
                    load=0.5,burst=10M,cost=0.5%,limit=2s,signal=40, or off\n";
        assert_eq!(String::from_utf8_lossy(&output.stderr), said, "{knobs}");
    }
}

/// Where there can be no shadows the program runs without, and says so once.
#[test]
fn program_without_shadows_runs_and_says_so() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    let launcher = dir.path().join("launcher");
    run(Command::new(llvm("clang"))
        .arg(project("testdata/shadow/without.c"))
        .arg("-o")
        .arg(&launcher));
    let exe = program.shadowed.to_str().unwrap();
    let knobs = "load=1,burst=100k,cost=100%";
    for (what, said) in [
        (
            "filters",
            "system calls cannot be filtered here (seccomp): the program runs without shadows",
        ),
        (
            "writable-code",
            "code cannot be made writable here: the program runs without shadows",
        ),
        ("cores", "there is one core, and the program needs it"),
        (
            "signals",
            "the signal is taken: choose another signal, like P3_SHADOW=signal=40",
        ),
    ] {
        let arguments = [what, exe, "threads", "8000"];
        let (_, output) = program.run(&launcher, what, &arguments, knobs);
        assert_eq!(output.status.code(), Some(3), "{what}: {output:?}");
        let said = format!("p3: shadows: {said}\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr), said);
    }
}
