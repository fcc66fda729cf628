//! Executed probes, counted by `--count-hits` builds, equal what `p3-prof simulate` computes from a
//! sequential profile; and counting them changes no count of a path.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Behaviour, PROF, original, paths, profile, run};

fn rows(command: &mut Command) -> serde_json::Value {
    let output = run(command.args(["--format", "json"]));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    json["rows"].clone()
}

fn check_scheme(
    modules: &[PathBuf],
    expected: &Behaviour,
    sequential: &Path,
    scheme: &str,
    k: u32,
    more: &[&str],
    dir: &Path,
) {
    let options = [&["--scheme", scheme, "--count-hits"], more].concat();
    let merged = profile(modules, &options, k, &["-O1"], expected, dir);
    assert_eq!(paths(&merged), paths(sequential), "{options:?}");
    let manifest = dir.join("manifest.json");
    let mut hits = Command::new(PROF);
    let measured = rows(
        hits.arg("hits")
            .arg("-m")
            .arg(&manifest)
            .arg(dir.join("raw")),
    );
    let mut simulate = Command::new(PROF);
    let k = k.to_string();
    simulate
        .args(["simulate", "--scheme", scheme, "-k", &k])
        .arg(sequential);
    let simulated = rows(&mut simulate);
    assert_eq!(
        measured[0]["probe_hits"], simulated[0]["probe_hits"],
        "{options:?}"
    );
    let total: u64 = measured[0]["probe_hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap())
        .sum();
    assert!(total > 0);
}

fn check(name: &str, flags: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (modules, expected) = original(name, flags, &["-O1"], dir);
    let sequential = profile(
        &modules,
        &["--scheme", "sbl"],
        1,
        &["-O1"],
        &expected,
        &dir.join("sbl"),
    );
    let runs: [(&str, u32, &[&str]); 5] = [
        ("sbl", 1, &[]),
        ("pbl", 2, &["--counters", "call"]),
        ("p3", 2, &[]),
        ("p3", 5, &["--update", "atomic"]),
        ("p3-weighted", 3, &[]),
    ];
    for (i, (scheme, k, more)) in runs.into_iter().enumerate() {
        let out = dir.join(i.to_string());
        check_scheme(&modules, &expected, &sequential, scheme, k, more, &out);
    }
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), &["-O0", "-Xclang", "-disable-O0-optnone"]);
            check(stringify!($name), &["-O2"]);
        })*
    };
}

// Programs whose activations all complete: what is abandoned executes probes that no path tells of.
programs! { loops many_paths switches computed_goto irreducible recursion callbacks demo }
