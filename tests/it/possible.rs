//! Paths whose code is said to show that they cannot run, against paths that ran.

mod examples;

use crate::coverage;
use crate::support::generate::{module as random_module, support_object};
use crate::support::{
    execute, folder, link, module, original, profile, profile_with, run_and_profile,
};
use p3_rewrite::possible::asked::{Answer, AskedPath, Request};
use p3_rewrite::possible::is_known;
use p3_rewrite::possible::solver::Program;
use p3_rewrite::profile::Profile;
use p3_rewrite::read::possible::runs_alone;
use p3_rewrite::write::judge::answer_requests;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many paths of a function are judged that did not run.
const MOST: usize = 40;

/// The solver that tests ask.
fn solver() -> Program {
    // `P3_SOLVER` is `none` for tests, so that all others are the same with a solver and without.
    Program::find_named(Path::new("z3")).expect("z3 is installed: make setup-tests")
}

/// By function: how many paths ran, how many of others are refuted, and how many others were judged. None that ran is
/// refuted, with a solver or without.
#[track_caller]
fn judged(file: &Path, solver: Option<&Program>) -> BTreeMap<String, [usize; 3]> {
    let profile = Profile::read(file).unwrap();
    let paths = profile.paths().unwrap();
    let native = file.parent().unwrap().join("native");
    let manifest = &profile.manifest;
    let own = manifest.functions.iter().map(|f| f.name.clone());
    let own_names: Vec<String> = own.filter(|name| is_known(name)).collect();
    let (mut asked, mut requests) = (Vec::new(), Vec::new());
    for f in profile.executed_functions() {
        let entry = profile.entry(f);
        let structure = profile.structure(f).unwrap();
        let decode = |id| {
            structure
                .paths
                .dag
                .path(&structure.paths.decode(id).unwrap())
        };
        let ran: BTreeSet<_> = paths.counts(f).iter().map(|(id, _)| *id).collect();
        let others = structure
            .paths
            .ids()
            .filter(|id| !ran.contains(id))
            .take(MOST);
        let all: Vec<_> = ran.iter().copied().chain(others).collect();
        let body = entry.bodies[0];
        let request = Request {
            module: ["bc", "ll"]
                .map(|kind| native.join(format!("m{}.{kind}", body.module.0)))
                .into_iter()
                .find(|file| file.exists())
                .unwrap(),
            hash: manifest.modules[body.module].hash.clone(),
            ordinal: body.ordinal,
            paths: all.iter().map(|id| AskedPath::new(&decode(*id))).collect(),
            is_alone: runs_alone(manifest),
            own_names: own_names.clone(),
            solver: solver.cloned(),
        };
        requests.extend(serde_json::to_vec(&request).unwrap());
        requests.push(b'\n');
        asked.push((entry.name.clone(), ran.len(), all));
    }
    let mut answers = Vec::new();
    answer_requests(&requests[..], &mut answers).unwrap();
    let answers = answers.split(|byte| *byte == b'\n');
    let mut functions = BTreeMap::new();
    let mut wrong = Vec::new();
    for ((name, ran, ids), line) in asked.into_iter().zip(answers) {
        let Answer::Judgements(all) = serde_json::from_slice(line).unwrap() else {
            panic!("{name}: {}", String::from_utf8_lossy(line));
        };
        let refuted = all.iter().map(|j| j.is_impossible());
        let refuted: Vec<bool> = refuted.collect();
        let ran_refuted = ids[..ran]
            .iter()
            .zip(&all)
            .filter(|(_, j)| j.is_impossible());
        wrong.extend(ran_refuted.map(|(id, j)| format!("{name} #{id}: {j:?}")));
        let others = &refuted[ran..];
        let found = others.iter().filter(|r| **r).count();
        functions.insert(name, [ran, found, others.len()]);
    }
    assert!(wrong.is_empty(), "paths that ran are refuted: {wrong:#?}");
    functions
}

/// Judges what a test program runs, compiled in each of these ways.
fn check(name: &str, ways: &[&[&str]]) {
    for flags in ways {
        let dir = folder();
        let (modules, expected) = original(name, flags, &["-O2"], dir.path());
        let out = dir.path().join("out");
        let file = profile(&modules, &[], 1, &["-O2"], &expected, &out);
        print_sums(
            &format!("{name} {flags:?}"),
            &judged(&file, Some(&solver())),
        );
    }
}

fn print_sums(what: &str, found: &BTreeMap<String, [usize; 3]>) {
    let sum = |i: usize| found.values().map(|n| n[i]).sum::<usize>();
    println!("{what}: {} ran, {} of {} refuted", sum(0), sum(1), sum(2));
}

macro_rules! programs {
    ($($name:ident)*) => {
        /// No path that ran is refuted, in any program, as compilers make it and as they begin with it.
        mod no_path_that_ran_is_refuted {
            $(#[test]
            fn $name() {
                let begun = ["-O1", "-Xclang", "-disable-llvm-passes"];
                super::check(stringify!($name), &[&["-O0"], &["-O1"], &["-O2"], &begun]);
            })*
        }
    };
}

programs! {
    asm_goto assertions callbacks cleanups computed_goto conditions constants contradictions coroutines demo
    exceptions exits interpreters iterations joined_loops labels lambdas longjmp loops many_paths modules
    odd_functions operands outcomes pure recursion returning scan shapes short_loops switches tail_calls tails
    threads values vectors vfork warm words
}

/// Compiles a program of one file in each of these ways, runs it, and judges: by function, as [`judged`].
fn judged_source(
    source: &str,
    flags: &[&str],
    solver: Option<&Program>,
) -> BTreeMap<String, [usize; 3]> {
    let dir = folder();
    let modules = [module("a.c", source, flags, dir.path())];
    let file = run_and_profile(&modules, &[], 1, &["-O2"], dir.path());
    judged(&file, solver)
}

/// Code whose conditions seem to exclude each other, and do not: each path runs that a mistake would refute.
const TRAPS: &str = include_str!("possible/traps.c");

#[test]
fn traps_run() {
    let begun = ["-O1", "-Xclang", "-disable-llvm-passes"];
    let plain = ["-O0", "-Xclang", "-disable-O0-optnone"];
    let solver = solver();
    judged_source(TRAPS, &["-O0"], Some(&solver));
    for flags in [&["-O1"][..], &["-O2"], &begun, &plain] {
        // Copies in which undefined values decide at each use anew do not agree on what ran.
        judged_source(TRAPS, &[flags, &["-DDEFINED"]].concat(), Some(&solver));
    }
}

/// What threads and handlers of signals write between two instructions.
#[test]
fn others_write_between_two_instructions() {
    for flags in ["-O0", "-O1"] {
        judged_source(include_str!("possible/others.c"), &[flags], Some(&solver()));
    }
}

/// Checks that compilers add lead to branches, calls and ends of their own.
#[test]
fn no_path_that_ran_is_refuted_in_checked_programs() {
    const CHECKED: [&str; 2] = ["-fsanitize=undefined", "-fsanitize-trap=undefined"];
    for name in [
        "conditions",
        "constants",
        "demo",
        "loops",
        "operands",
        "switches",
        "values",
        "words",
    ] {
        check(
            name,
            &[
                &["-O0", CHECKED[0], CHECKED[1]],
                &["-O1", CHECKED[0], CHECKED[1]],
            ],
        );
    }
}

/// Programs of random control flow, like those of `fuzz`.
#[test]
fn no_path_that_ran_is_refuted_in_random_programs() {
    for first in [1, 1000] {
        let dir = folder();
        let seeds: Vec<u64> = (first..first + 20).collect();
        let modules = [random_module(&seeds, &dir.path().join("input"))];
        let objects = [support_object(dir.path())];
        let exe = dir.path().join("native");
        link(&modules, &objects, &["-O0"], &exe);
        let expected = execute(&exe, &dir.path().join("once"));
        let out = dir.path().join("out");
        let file = profile_with(&modules, &objects, &[], 1, &["-O0"], &expected, &out).unwrap();
        print_sums("random", &judged(&file, Some(&solver())));
    }
}

/// What rustc makes of a program.
#[test]
fn no_path_that_ran_is_refuted_in_rust() {
    let dir = folder();
    print_sums(
        "Rust",
        &judged(&crate::rust_code::profile(dir.path()), Some(&solver())),
    );
}

/// Of profiles whose names `P3_JUDGED` has, with the modules beside them: `make corpus` names those of real programs.
#[test]
#[ignore = "make corpus"]
fn no_path_that_ran_is_refuted_in_given_profiles() {
    let names = std::env::var_os("P3_JUDGED").expect("profiles are named");
    for file in std::env::split_paths(&names) {
        let found = judged(&file, Some(&solver()));
        print_sums(&file.display().to_string(), &found);
    }
}

/// Of functions of which every input is tried: all paths that did not run are impossible, and so many of them must be
/// refuted.
const COMPLETE: &str = include_str!("possible/complete.c");

#[test]
fn paths_that_no_input_takes_are_refuted() {
    let alone = count_refuted(None);
    let helped = count_refuted(Some(&solver()));
    println!("without a solver {alone:?}, with one {helped:?}");
    assert!(alone[0] * 4 >= alone[1] * 3, "{alone:?}");
    assert!(helped[0] * 10 >= helped[1] * 9, "{helped:?}");
}

/// How many paths of functions of which every input is tried are refuted, of those that are impossible.
fn count_refuted(solver: Option<&Program>) -> [usize; 2] {
    let found = judged_source(COMPLETE, &["-O0"], solver);
    let tried: Vec<_> = found
        .iter()
        .filter(|(name, _)| name.starts_with("try_"))
        .collect();
    assert!(tried.len() >= 15, "{found:#?}");
    let refuted: usize = tried.iter().map(|(_, n)| n[1]).sum();
    let impossible: usize = tried.iter().map(|(_, n)| n[2]).sum();
    let missed = tried.iter().filter(|(_, n)| n[1] < n[2]);
    println!("{:?}", missed.collect::<Vec<_>>());
    [refuted, impossible]
}

/// No test wants a path that ends in `abort`.
#[test]
fn paths_that_abort_are_left_out() {
    let source = "#include <stdlib.h>
int f(int x) {
    if (x == 7)
        abort();
    return x;
}
int main(void) { return f(0); }
";
    let dir = folder();
    let modules = [module("a.c", source, &["-O0", "-g"], dir.path())];
    let file = run_and_profile(&modules, &[], 1, &["-O0"], dir.path());
    let (_, text) = coverage::coverage(&file, &["--function", "^f$"], None);
    let told = "left out: 1 path that ends in abort or a failed assertion\n";
    assert!(
        text.contains(told) && !text.contains("not covered"),
        "{text}"
    );
}

/// Coverage prints the paths that can run in place of those that cannot, and says how many it left out; also when the
/// module is gone, as long as the answers are kept.
#[test]
fn coverage_suggests_paths_that_can_run() {
    let source = "int f(int x) {
    int r = 0;
    if (x + 1 == 5)
        r += 1;
    if (x == 7)
        r += 2;
    return r;
}
int main(void) { return f(4) + f(7) - 3; }
";
    let dir = folder();
    let modules = [module("a.c", source, &["-O0", "-g"], dir.path())];
    let file = run_and_profile(&modules, &[], 1, &["-O0"], dir.path());
    let options = ["--function", "^f$", "--nearest", "1"];
    let found = || {
        let (_, text) =
            coverage::coverage(&file, &[&options[..], &["--format", "json"]].concat(), None);
        let line = text.lines().find(|line| line.starts_with('{')).unwrap();
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        let f = &json["functions"][0];
        let uncovered = f["uncovered"].as_array().unwrap().iter();
        let lines: Vec<String> = uncovered.map(|u| u["not_covered"].to_string()).collect();
        (f["refuted"].as_u64(), lines)
    };
    let expected = found();
    assert_eq!((expected.0, expected.1.len()), (Some(1), 1), "{expected:?}");
    assert!(!expected.1[0].contains("true"), "{expected:?}");
    let (status, text) = coverage::coverage(&file, &options, None);
    let told = "left out: 1 path whose code shows that it cannot run\n";
    assert!(text.contains(told) && status == Some(0), "{text}");

    std::fs::remove_dir_all(file.parent().unwrap().join("native")).unwrap();
    assert_eq!(found(), expected, "what was answered is kept");
    std::fs::remove_file(file.with_extension("p3judged")).unwrap();
    let (_, text) = coverage::coverage(&file, &options, None);
    let why = "whether they can run: a.bc, as it was profiled, is not beside the profile: name the output folder, with \
               the profile in it\n";
    assert!(text.contains(why) && !text.contains(told), "{text}");
}
