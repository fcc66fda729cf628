//! Paths that are said to be impossible, against programs that try every input.

use crate::export::profiled;
use crate::support::folder;
use p3_rewrite::base::index::BlockId;
use p3_rewrite::profile::Profile;
use p3_rewrite::read::analysis::contradiction::{Contradictions, count_all_but};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// By function: how many paths ran, how many cannot run, how many there are. None that ran is among those that cannot.
fn looked_at(file: &Path) -> BTreeMap<String, [u64; 3]> {
    let profile = Profile::read(file).unwrap();
    let paths = profile.paths().unwrap();
    let mut functions = BTreeMap::new();
    for f in profile.executed_functions() {
        let entry = profile.entry(f);
        let structure = profile.structure(f).unwrap();
        let found = Contradictions::new(entry);
        let ran: HashSet<_> = paths.counts(f).iter().map(|(id, _)| *id).collect();
        for id in &ran {
            assert!(
                found.allow_path(&structure.paths, *id),
                "{} {id}",
                entry.name
            );
        }
        let did_not_run = count_all_but(ran.iter().copied());
        let cannot = found.count(&structure.paths, did_not_run);
        let all = structure.paths.numbering.total();
        functions.insert(entry.name.clone(), [ran.len() as u64, cannot.all, all]);
    }
    functions
}

/// All pairs of inputs take every path of these functions but those that are called impossible; so nothing more can be
/// called so.
#[test]
fn impossible_paths_are_those_that_no_input_takes() {
    let dir = folder();
    let found = looked_at(&profiled("contradictions", &["-O0", "-g"], dir.path()));
    for name in ["twice", "chosen", "counted"] {
        let [ran, cannot, all] = found[name];
        assert_eq!(ran + cannot, all, "{name}: {found:?}");
        assert!(cannot > 0, "{name}");
    }
    // What is stored from another variable is not followed.
    let [ran, cannot, all] = found["stored"];
    assert!(cannot > 0 && ran + cannot < all, "{found:?}");
}

/// The same where constants are stored in local variables; and what is stored elsewhere is not followed.
#[test]
fn paths_against_stored_constants_are_impossible() {
    let dir = folder();
    let found = looked_at(&profiled("constants", &["-O0", "-g"], dir.path()));
    for name in ["flagged", "negated", "pointed", "narrowed"] {
        let [ran, cannot, all] = found[name];
        assert_eq!(ran + cannot, all, "{name}: {found:?}");
        assert!(cannot > 0, "{name}");
    }
    // Of `a > 10 && b > 10` the constant is followed, and not the comparison.
    let [ran, cannot, all] = found["joined"];
    assert!(cannot > 0 && ran + cannot < all, "{found:?}");
    assert_eq!(found["escaped"][1], 0, "{found:?}");
}

/// A loop whose header has a φ of constants, which is asked where the loop is left by the block that goes back: the
/// constant of that edge is the next iteration's.
#[test]
fn constant_of_next_iteration_does_not_decide_this_one() {
    let dir = folder();
    let profile = Profile::read(&profiled("constants", &["-O1", "-g"], dir.path())).unwrap();
    let f = profile
        .functions()
        .find(|f| profile.entry(*f).name == "repeated");
    let entry = profile.entry(f.unwrap());
    let blocks = || (0..entry.succs.len()).map(BlockId::new);
    let asked = blocks().filter(|b| entry.succs[*b].len() == 2);
    assert!(asked.clone().count() >= 2, "no branch behind the loop");
    for b in asked {
        assert!(blocks().all(|before| entry.implied_successor(b, [before]).is_none()));
    }
}

/// No path that ran is called impossible, in any program that tests of C and C++ run.
#[test]
fn no_path_that_ran_is_impossible() {
    for name in [
        "assertions",
        "callbacks",
        "cleanups",
        "computed_goto",
        "demo",
        "iterations",
        "joined_loops",
        "lambdas",
        "many_paths",
        "recursion",
        "scan",
        "shapes",
        "tails",
        "vectors",
        "warm",
        "words",
    ] {
        let dir = folder();
        looked_at(&profiled(name, &["-O0", "-g"], dir.path()));
    }
}

/// Whatever an optimiser makes of conditions, no path that ran is called impossible.
#[test]
fn paths_that_ran_are_possible() {
    for name in [
        "constants",
        "contradictions",
        "outcomes",
        "conditions",
        "loops",
        "switches",
        "exceptions",
        "longjmp",
    ] {
        for level in ["-O0", "-O1", "-O2"] {
            let dir = folder();
            looked_at(&profiled(name, &[level, "-g"], dir.path()));
        }
    }
}

/// Coverage neither lists nor counts what cannot run, and says how much that is.
#[test]
fn coverage_leaves_out_what_cannot_run() {
    use crate::support::{PROF, run};
    let dir = folder();
    let profile = profiled("outcomes", &["-O0", "-g"], dir.path());
    let mut coverage = std::process::Command::new(PROF);
    coverage
        .arg("coverage")
        .arg(&profile)
        .args(["--function", "^f$", "--nearest", "9"]);
    let text = crate::export::text(run(&mut coverage));
    let told = "    left out: 2 paths, which cannot run\n\
                a path cannot run if the outcomes on it contradict each other\n";
    assert!(text.contains(told), "{text}");
    assert!(!text.contains("not covered"), "{text}");
    coverage.args(["--format", "json"]);
    let json = crate::support::parsed(&run(&mut coverage).stdout);
    assert_eq!(json["functions"][0]["contradictory"], 2, "{json:#}");
}
