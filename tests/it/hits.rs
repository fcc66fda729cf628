//! Executed probes, counted by `--count-hits` builds, equal what `p3-prof simulate` computes from a
//! sequential profile; and counting them changes no count of a path. The costs that p3-weighted goes by are
//! executions, so that it is held to be no worse than pbl by those.

use crate::support::{Behaviour, PROF, original, parsed, profile, run, schemes};
use p3_rewrite::base::index::{CopyId, FuncId, TiVec, ti_vec};
use p3_rewrite::copies::partition::Share;
use p3_rewrite::copies::strategy::Scheme;
use p3_rewrite::paths::function::{FunctionInput, Measuring};
use p3_rewrite::paths::numbering::pspp;
use p3_rewrite::profile::{Profile, Structure, flow::flow};
use std::path::{Path, PathBuf};
use std::process::Command;

fn rows(command: &mut Command) -> serde_json::Value {
    let output = run(command.args(["--format", "json"]));
    let json = parsed(&output.stdout);
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
    // The same paths, or the edges that they add up to.
    run(Command::new(PROF)
        .arg("compare")
        .args([&merged, sequential]));
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
    if let ["--profile", weights] = more {
        simulate.args(["--profile", weights]);
    }
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
    let dir = crate::support::folder();
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
    let more: [(Scheme, u32, &[&str]); 4] = [
        (Scheme::Pbl, 2, &["--counters", "call"]),
        (Scheme::P3, 5, &["--update", "atomic"]),
        (Scheme::RangesTest, 1, &[]),
        (Scheme::RangesTest, 3, &["--counters", "call"]),
    ];
    let runs = schemes(2).filter(|(scheme, _)| !scheme.strategy().is_hidden);
    let runs = runs.map(|(scheme, k)| (scheme, k, &[][..]));
    for (i, (scheme, k, more)) in runs.chain(more).enumerate() {
        let out = dir.join(i.to_string());
        let scheme = scheme.name();
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
programs! { loops many_paths switches computed_goto irreducible iterations recursion callbacks demo }

/// A function with more paths than an array holds, few of which run: with weights, these have a version and an array of
/// their own.
#[test]
fn warm_edges() {
    for flags in [&["-O1"][..], &["-O2"]] {
        let dir = crate::support::folder();
        let dir = dir.path();
        let (modules, expected) = original("warm", flags, &["-O1"], dir);
        let options = ["--scheme", "sbl"];
        let out = dir.join("sbl");
        let sequential = profile(&modules, &options, 1, &["-O1"], &expected, &out);
        let weights = ["--profile", sequential.to_str().unwrap()];
        for k in [1, 3] {
            let out = dir.join(k.to_string());
            let scheme = Scheme::P3Hot.name();
            check_scheme(&modules, &expected, &sequential, scheme, k, &weights, &out);
            let manifest = std::fs::read_to_string(out.join("manifest.json")).unwrap();
            assert!(manifest.contains("\"warm\""), "{k}");
        }
    }
}

/// The functions of a profile that are not skipped, with their executions for weights.
fn measured(profile: &Profile) -> (Vec<FuncId>, Vec<Structure>) {
    let profiled = |f: &FuncId| !profile.entry(*f).status.is_skipped();
    let functions: Vec<FuncId> = profile.functions().filter(profiled).collect();
    let measure = |&f: &FuncId| {
        let mut structure = profile.structure(f).unwrap();
        let counts = flow(profile, f, &structure).unwrap().dag;
        let weights = counts.into_iter().map(|n| n as f64).collect();
        structure.paths = structure.paths.with_measured(weights);
        structure
    };
    let structures = functions.iter().map(measure).collect();
    (functions, structures)
}

/// Function `f` as number `i` of those that are measured.
fn input<'a>(
    profile: &Profile,
    i: usize,
    f: FuncId,
    structure: &'a Structure,
) -> FunctionInput<'a> {
    FunctionInput {
        unit: FuncId::new(i),
        ..profile.entry(f).input(&structure.cfg)
    }
}

/// What the busiest copy executes: labelled edges, and counts at the ends of paths.
fn busiest(paths: &[Option<Measuring>], shares: &[Share], copies: u32) -> u64 {
    let mut load: TiVec<CopyId, u64> = ti_vec![0; copies as usize];
    for (paths, share) in paths.iter().flatten().zip(shares) {
        let all = paths.dag.edge_ids();
        let sets = match share {
            Share::Nothing => Vec::new(),
            Share::Whole(copy) => vec![(*copy, all.collect())],
            Share::Split(sets) => sets.clone(),
            Share::Ranges(_) | Share::Inside(_) | Share::Outside(..) => {
                unreachable!("of another scheme")
            }
        };
        for (copy, set) in sets {
            let labels = match share {
                Share::Split(_) => pspp(&paths.dag, &set).labels,
                _ => paths.numbering.labels.clone(),
            };
            let ends = paths.dag.ins(paths.dag.exit()).iter().copied();
            let labelled = labels.keys().filter(|&e| labels[e] != 0);
            let executed = labelled.chain(ends.filter(|e| set.contains(*e)));
            load[copy] += executed.map(|e| paths.weights()[e] as u64).sum::<u64>();
        }
    }
    load.into_iter().max().unwrap()
}

#[test]
fn weighted_is_no_worse_than_pbl_by_its_costs() {
    let mut split = 0;
    for name in ["loops", "callbacks", "many_paths", "recursion", "switches"] {
        let dir = crate::support::folder();
        let (modules, expected) = original(name, &["-O1"], &["-O1"], dir.path());
        let (scheme, out) = (["--scheme", "sbl"], dir.path().join("sbl"));
        let file = profile(&modules, &scheme, 1, &["-O1"], &expected, &out);
        let profile = Profile::read(&file).unwrap();
        let (functions, structures) = measured(&profile);
        let inputs: Vec<FunctionInput> = (functions.iter().zip(&structures))
            .enumerate()
            .map(|(i, (&f, s))| input(&profile, i, f, s))
            .collect();
        let paths: Vec<_> = structures.iter().map(|s| Some(s.paths.clone())).collect();
        for copies in [2, 3, 4, 8] {
            let shares = |scheme: Scheme| scheme.strategy().assign(&inputs, &paths, copies).shares;
            let weighted = shares(Scheme::P3Weighted);
            let (n, pbl) = (
                busiest(&paths, &weighted, copies),
                busiest(&paths, &shares(Scheme::Pbl), copies),
            );
            assert!(n <= pbl, "{name}, {copies} copies: {n}, pbl {pbl}");
            split += weighted
                .iter()
                .filter(|s| matches!(s, Share::Split(_)))
                .count();
        }
    }
    assert!(split > 10, "{split} functions split");
}

/// Functions are printed for one scheme and number of copies.
#[test]
fn functions_of_several_schemes_are_refused() {
    let dir = crate::support::folder();
    let profile = crate::export::profiled("demo", &["-O1"], dir.path());
    let simulate = |options: &[&str]| {
        let mut simulate = Command::new(PROF);
        let output = simulate
            .arg("simulate")
            .arg(&profile)
            .args(options)
            .output();
        output.unwrap()
    };
    for options in [
        &["--functions"][..],
        &["--functions", "--scheme", "p3,pbl", "-k", "2"],
        &["--functions", "--scheme", "p3"],
    ] {
        let output = simulate(options);
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(output.stdout.is_empty());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            said,
            "error: --functions is for one scheme: add --scheme NAME -k K\n"
        );
    }
    let one = simulate(&["--functions", "--scheme", "p3", "-k", "2"]);
    assert!(one.status.success() && !one.stdout.is_empty());
}
