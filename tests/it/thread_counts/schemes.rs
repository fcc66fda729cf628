//! Threads under every scheme and option of counting, both engines of increments.

use super::{Built, Counts, Session, assert_exact, is_exact};
use crate::support::{PROF, exact_schemes, parsed, run};
use p3_rewrite::copies::strategy::Measure;
use serde_json::Value;
use std::process::Command;

/// Runs of all copies, each of which has the truth of its own; that of one, and all merged.
fn check(built: &Built, copies: u32, arguments: &str) {
    let session = Session::new(built, "ways");
    let mut truth: Option<Counts> = None;
    for copy in 0..copies {
        let exe = built.out("ways").join(format!("bin/copy-{copy}"));
        let output = session.command_of(&exe, &[], arguments).output().unwrap();
        super::assert_quiet(&output, arguments);
        let counts = session.truth().counts();
        assert_eq!(truth.get_or_insert(counts.clone()), &counts, "copy {copy}");
        std::fs::remove_file(session.dir.path().join("truth")).unwrap();
    }
    assert_exact(&session.profile(), &truth.unwrap(), arguments);
}

#[test]
fn threads_under_every_scheme_of_paths_lose_nothing() {
    for scheme in exact_schemes().filter(|s| s.strategy().measure == Measure::Paths) {
        let copies = scheme.strategy().copies(2);
        let k = copies.to_string();
        let options = ["-k", &k, "--scheme", scheme.name()];
        let built = Built::new(&options, "$CC -O1 -g ways.c -o ways");
        check(&built, copies, "at-once 4 40000");
        check(&built, copies, "hashed 4 100000");
    }
}

#[test]
fn threads_whose_probes_are_counted_lose_nothing() {
    for more in [
        &["--count-hits"][..],
        &["--counters", "call"],
        &["--counters", "call", "--count-hits"],
    ] {
        let built = Built::by_make(&[&["-k", "2"], more].concat());
        check(&built, 2, "at-once 4 40000");
        check(&built, 2, "hashed 4 100000");
    }
}

/// Counters of edges, and what follows from them.
#[test]
fn edges_of_threads_lose_nothing() {
    let built = Built::new(
        &["-k", "1", "--scheme", "edge"],
        "$CC -O1 -g ways.c -o ways",
    );
    let session = Session::new(&built, "ways");
    session.run("at-once 5 20000");
    session.run("in-turn 300 5");
    let truth = session.truth().counts();
    let merged = session.dir.path().join("edges.p3prof");
    let mut merge = Command::new(PROF);
    merge
        .args(["merge", "--failure-mode", "warn", "-m"])
        .arg(built.dir.join("p3"));
    run(merge.arg("-o").arg(&merged).arg(session.raw()));
    let mut show = Command::new(PROF);
    show.args(["show", "--edges", "--format", "json"]);
    let shown = parsed(&run(show.arg(&merged)).stdout);
    let of = |name: &str| {
        let mut functions = shown["functions"].as_array().unwrap().iter();
        functions.find(|f| f["name"] == name).unwrap().clone()
    };
    let sum = |has: &dyn Fn(&str) -> bool| {
        let rows = truth.iter().filter(|(key, _)| has(key));
        rows.map(|(_, n)| n).sum::<u64>()
    };
    let counted = |f: &Value| -> Vec<u64> {
        let edges = f["edges"].as_array().unwrap().iter();
        edges.map(|e| e["count"].as_u64().unwrap()).collect()
    };
    let mut expected = vec![
        ("step", sum(&|k| k.starts_with("step true,"))),
        ("step", sum(&|k| k.starts_with("step false,"))),
        (
            "walk",
            sum(&|k| k.starts_with("walk") && k.ends_with("back")),
        ),
        (
            "walk",
            sum(&|k| k.starts_with("walk") && k.ends_with("exit")),
        ),
    ];
    expected.retain(|(_, n)| *n > 0);
    let is_equal = expected
        .iter()
        .all(|(name, n)| counted(&of(name)).contains(n))
        && of("step")["entry"] == sum(&|k| k.starts_with("step"))
        && of("walk")["entry"] == sum(&|k| k.starts_with("walk entry"));
    let verdict = shown["program"]["verdict"].as_str().unwrap();
    assert!(
        is_equal || !is_exact() && verdict != "ok",
        "{truth:?}: {shown}"
    );
    assert!(!is_exact() || verdict == "ok", "{verdict}");
}
