//! Differential fuzzing: random whole programs, run as they are, traced, and rewritten by every
//! scheme; every copy behaves as the original and every profile equals brute force.
//!
//! `make fuzz` runs it for P3_FUZZ_SECONDS from a seed of P3_FUZZ_SEED.

use crate::selected::{compare, selection, some_of};
use crate::support::generate::{Random, module, program, smaller, support_object};
use crate::support::{
    Behaviour, PathKey, copy_modules, edges, exact_schemes, execute, link, paths, rewrite, runtime,
    trace, tracer,
};
use p3_rewrite::copies::strategy::{Measure, Scheme};
use p3_rewrite::profile::Profile;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Programs that are one module: linking is what takes the time.
const BATCH: usize = 25;

/// Numbers of copies: from round to round, each scheme takes the next.
const COPIES: [u32; 5] = [3, 8, 2, 17, 1];

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Programs in one module, and what they do unless somebody counts.
struct Batch<'a> {
    modules: &'a [PathBuf],
    objects: &'a [PathBuf],
    flags: &'a [&'a str],
    round: usize,
    dir: &'a Path,
    expected: &'a Behaviour,
}

impl Batch<'_> {
    fn profile(&self, options: &[&str], copies: u32, out: &Path) -> Result<PathBuf, String> {
        crate::support::profile_with(
            self.modules,
            self.objects,
            options,
            copies,
            self.flags,
            self.expected,
            out,
        )
    }
}

/// Runs the programs in every way that `round` selects; the first thing that is wrong.
fn check(seeds: &[u64], round: usize, dir: &Path) -> Result<usize, String> {
    let modules = [module(seeds, &dir.join("input"))];
    let objects = [support_object(dir)];
    // Optimised code generation alone or with all passes.
    let flags = [&["-O0"][..], &["-O2"]][round % 2];
    let exe = dir.join("x.exe");
    link(&modules, &objects, flags, &exe);
    let expected = execute(&exe, &dir.join("native"));
    let traced = dir.join("trace");
    rewrite(&modules, &["--scheme", "trace"], &traced);
    let with_tracer = [tracer(), &objects].concat();
    link(
        &copy_modules(&modules, &traced, 0),
        &with_tracer,
        flags,
        &exe,
    );
    if execute(&exe, &traced) != expected {
        return Err("the traced program behaves differently".into());
    }
    let (manifest, log) = (traced.join("manifest.json"), traced.join("trace"));
    let oracle = trace::count(&manifest, &log);
    let batch = Batch {
        modules: &modules,
        objects: &objects,
        flags,
        round,
        dir,
        expected: &expected,
    };
    let called: &[&str] = &["--counters", "call", "--update", "atomic"];
    let schemes = exact_schemes().filter(|s| **s != Scheme::VersionsTest);
    let runs = schemes.map(|s| (*s, &[][..])).chain([(Scheme::P3, called)]);
    for (i, (scheme, options)) in runs.enumerate() {
        let copies = scheme.strategy().copies(COPIES[(round + i) % COPIES.len()]);
        let options = &[&["--scheme", scheme.name()], options].concat()[..];
        let merged = batch.profile(options, copies, &dir.join(i.to_string()))?;
        let equal = match scheme.strategy().measure {
            Measure::Edges => {
                let transitions = trace::transitions(&manifest, &log);
                edges::compare(&merged, &transitions).map(drop)
            }
            Measure::Estimated(_) => unreachable!("exact schemes"),
            Measure::Paths => compare_paths(&paths(&merged), &oracle),
        };
        equal.map_err(|problem| format!("{options:?} -k {copies}: {problem}"))?;
        if scheme == Scheme::Sbl {
            let whole = Profile::read(&merged).map_err(|e| e.to_string())?;
            let asked = some_paths(&whole, &mut Random::new(seeds[0] + round as u64));
            selected(&batch, &whole, &asked)?;
        }
    }
    sampled(&batch)?;
    Ok(oracle.len())
}

/// Paths chosen at random, in each function in another way.
fn some_paths(whole: &Profile, random: &mut Random) -> Value {
    let random = std::cell::RefCell::new(random);
    let below = |n| random.borrow_mut().below(n);
    selection(whole, |_, counts, edges| {
        let some = |of: usize| some_of(counts, |_| below(of) == 0);
        match below(6) {
            0 => Value::Null,
            1 => json!("all"),
            2 => {
                let dropped = 2 + below(8);
                let edges = (0..edges).filter(|_| below(dropped) > 0);
                json!({"edges": edges.collect::<Vec<_>>()})
            }
            3 => json!({"paths": some(3).iter().map(|(id, _)| id.0).collect::<Vec<_>>()}),
            // So often that leaving known paths out is worth its code.
            way => {
                let known = if way == 4 { some(2) } else { counts.to_vec() };
                let known = known.iter().map(|(id, n)| json!([id.0, n * 100_000]));
                json!({"known": known.collect::<Vec<_>>()})
            }
        }
    })
}

/// What selective copies count is what the whole profile, which equals brute force, has of these
/// paths.
fn selected(batch: &Batch, whole: &Profile, asked: &Value) -> Result<(), String> {
    let Batch { dir, round, .. } = *batch;
    let file = dir.join("selection.json");
    std::fs::write(&file, asked.to_string()).map_err(|e| e.to_string())?;
    let schemes = [Scheme::Sbl, Scheme::P3, Scheme::P3Hot, Scheme::Pbl];
    for (i, scheme) in [schemes[round % 4], Scheme::P3Hot].into_iter().enumerate() {
        let copies = scheme.strategy().copies(COPIES[(round + i) % COPIES.len()]);
        let options = [
            "--selection",
            file.to_str().expect("a plain name"),
            "--scheme",
        ];
        let options = [&options[..], &[scheme.name()]].concat();
        let out = dir.join(format!("selected-{i}"));
        let merged = batch.profile(&options, copies, &out)?;
        let selective = Profile::read(&merged).map_err(|e| e.to_string())?;
        compare(whole, &selective, asked);
    }
    Ok(())
}

/// The same where subpaths are sampled, so often that functions are left and come back to all the time.
fn sampled(batch: &Batch) -> Result<(), String> {
    let Batch { dir, round, .. } = *batch;
    let period = ["2", "7", "40"][round % 3];
    let kind: &[&str] = [&["--within", "functions"][..], &[]][round / 2 % 2];
    let options = [&["--scheme", "subpath", "--period", period], kind].concat();
    let out = dir.join("subpath");
    rewrite(batch.modules, &options, &out);
    let objects = [runtime(), batch.objects].concat();
    let exe = out.join("x.exe");
    link(
        &copy_modules(batch.modules, &out, 0),
        &objects,
        batch.flags,
        &exe,
    );
    if execute(&exe, &out) != *batch.expected {
        return Err(format!("{options:?}: the program behaves differently"));
    }
    Ok(())
}

/// What differs between a profile and brute force, if anything.
fn compare_paths(
    counted: &BTreeMap<PathKey, u64>,
    oracle: &BTreeMap<PathKey, u64>,
) -> Result<(), String> {
    if let Some((key, n)) = oracle.iter().find(|(k, n)| counted.get(k) != Some(n)) {
        let got = counted.get(key);
        return Err(format!("{key:?} ran {n} times, profile: {got:?}"));
    }
    if counted.len() != oracle.len() {
        return Err("paths that never ran".into());
    }
    Ok(())
}

/// The seeds of programs that behave alike unoptimised and optimised, before we touch them. (About
/// one in two thousand does not: of such a program nothing can be said.)
fn stable(seeds: &[u64]) -> Vec<u64> {
    let alike = |seeds: &[u64]| {
        let dir = crate::support::folder();
        let (modules, objects) = ([module(seeds, dir.path())], [support_object(dir.path())]);
        let behaviour = |flags: &[&str]| {
            let exe = dir.path().join("x.exe");
            link(&modules, &objects, flags, &exe);
            execute(&exe, dir.path())
        };
        behaviour(&["-O0"]) == behaviour(&["-O2"])
    };
    if alike(seeds) {
        seeds.to_vec()
    } else {
        seeds.iter().copied().filter(|&s| alike(&[s])).collect()
    }
}

/// Reports the smallest program that fails as one of the batch does: one of them by itself, or a
/// smaller one of the same seed.
fn fail(seeds: &[u64], round: usize, problem: &str) -> ! {
    let fails = |seed: &u64| {
        let dir = crate::support::folder();
        let alone = std::panic::catch_unwind(|| check(&[*seed], round, dir.path()));
        !matches!(alone, Ok(Ok(_))) && stable(&[*seed]).len() == 1
    };
    let reduced = seeds
        .iter()
        .flat_map(|&s| (1..12).map(move |blocks| smaller(s, blocks)));
    let failing: Vec<u64> = seeds.iter().copied().filter(|s| fails(s)).collect();
    let smallest = if failing.is_empty() {
        reduced.into_iter().find(|s| fails(s))
    } else {
        failing
            .iter()
            .flat_map(|&s| (1..20).map(move |b| smaller(s, b)))
            .find(|s| fails(s))
    };
    match smallest.or(failing.first().copied()) {
        Some(seed) => panic!(
            "{problem}\nseed {seed}, round {round}:\n{}",
            program(0, seed)
        ),
        None => panic!("{problem}\nonly together: seeds {seeds:?}, round {round}"),
    }
}

/// What rounds came to.
#[derive(Default)]
struct Tally {
    programs: usize,
    dropped: usize,
    /// Distinct paths.
    found: usize,
}

impl Tally {
    /// A batch of programs of its own, by the ways of a round.
    fn round(&mut self, round: usize) {
        let first = first_seed() + (round * BATCH) as u64;
        let seeds: Vec<u64> = (first..first + BATCH as u64).collect();
        let kept = stable(&seeds);
        let dir = crate::support::folder();
        let checked = std::panic::catch_unwind(|| check(&kept, round, dir.path()));
        match checked.unwrap_or_else(|_| Err("a panic, above".into())) {
            Ok(n) => self.found += n,
            Err(problem) => fail(&kept, round, &problem),
        }
        self.programs += kept.len();
        self.dropped += seeds.len() - kept.len();
    }

    fn check(&self) {
        let (programs, dropped, found) = (self.programs, self.dropped, self.found);
        let first = first_seed();
        println!(
            "{programs} programs ({dropped} dropped), {found} distinct paths, seeds from {first}"
        );
        assert!(
            dropped * 100 <= programs,
            "the generator makes unstable programs"
        );
        assert!(found > programs * 5, "programs that do nothing");
    }
}

fn first_seed() -> u64 {
    number("P3_FUZZ_SEED").unwrap_or(1)
}

/// One round after the other, for as long as is wanted.
#[test]
fn random_programs() {
    let Some(seconds) = number("P3_FUZZ_SECONDS") else {
        return;
    };
    let start = Instant::now();
    let mut tally = Tally::default();
    for round in 0.. {
        if start.elapsed() > Duration::from_secs(seconds) {
            break;
        }
        tally.round(round);
    }
    tally.check();
}

/// In every run of the tests: as many rounds as bring each scheme to each number of copies.
macro_rules! rounds {
    ($($name:ident: $round:literal)*) => {
        $(#[test]
        fn $name() {
            if number("P3_FUZZ_SECONDS").is_none() {
                let mut tally = Tally::default();
                tally.round($round);
                tally.check();
            }
        })*

        const _: [usize; COPIES.len()] = [$($round),*];
    };
}

rounds! {
    first_round: 0
    second_round: 1
    third_round: 2
    fourth_round: 3
    fifth_round: 4
}

/// Runs one seed by itself: `P3_FUZZ_ONE=seed P3_FUZZ_ROUND=n`.
#[test]
fn one_program() {
    let (Some(seed), Some(round)) = (number("P3_FUZZ_ONE"), number("P3_FUZZ_ROUND")) else {
        return;
    };
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fuzz-one");
    let _ = std::fs::remove_dir_all(&dir);
    println!(
        "{:?} in {}",
        check(&[seed], round as usize, &dir),
        dir.display()
    );
}
