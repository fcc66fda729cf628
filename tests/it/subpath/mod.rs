//! Samples of subpaths against all that ran, counted in a log of executed blocks.
//!
//! Every block execution begins a sample with probability 1 / period, whatever else happens: so points of subpaths are
//! binomial. Seeds are fixed, and so are the samples.

mod list;
mod reports;

use crate::support::{
    compile, copy_modules, execute, json, link, project, rewrite, run, runtime, tracer,
};
use p3_rewrite::estimates::data::Estimate;
use p3_rewrite::estimates::data::subpaths::merge::{SamplePart, union};
use p3_rewrite::estimates::data::subpaths::{Points, Subpaths};
use p3_rewrite::profile::raw::{self, Raw};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

type Counts = BTreeMap<Vec<u32>, u64>;

/// Rewrites a program, so that it samples, to the folder `out`, and links it beside that.
fn sampling(modules: &[PathBuf], options: &[&str], linking: &[&str], out: &Path) -> PathBuf {
    rewrite(modules, &[&["--scheme", "subpath"], options].concat(), out);
    let exe = out.with_extension("exe");
    link(&copy_modules(modules, out, 0), runtime(), linking, &exe);
    exe
}

/// A program that samples, and the blocks that it executes: all of them, or each activation's by itself.
struct Sampler {
    dir: tempfile::TempDir,
    exe: PathBuf,
    sequences: Vec<Vec<u32>>,
}

impl Sampler {
    fn new(
        modules: &[PathBuf],
        linking: &[&str],
        options: &[&str],
        dir: tempfile::TempDir,
    ) -> Sampler {
        let (traced, out) = (dir.path().join("trace"), dir.path().join("out"));
        rewrite(modules, &["--scheme", "trace"], &traced);
        let exe = dir.path().join("trace.exe");
        link(&copy_modules(modules, &traced, 0), tracer(), linking, &exe);
        let expected = execute(&exe, &traced);
        let exe = sampling(modules, options, linking, &out);
        assert_eq!(execute(&exe, &out), expected);
        let sequences = blocks(&out, &traced.join("trace"), options.contains(&"--within"));
        Sampler {
            dir,
            exe,
            sequences,
        }
    }

    fn of_program(name: &str, flags: &[&str], options: &[&str]) -> Sampler {
        let dir = crate::support::folder();
        let modules = compile(name, flags, &dir.path().join("input"));
        Sampler::new(&modules, &flags[..1], options, dir)
    }

    /// What a run with this seed samples. Whether two activations have one frame is up to the alignment of the stack:
    /// that is the same in each run, without what the kernel chooses by chance and where the names on the stack are.
    fn raw(&self, seed: u64) -> Raw {
        let name = format!("{seed}.p3raw");
        let file = self.dir.path().join(&name);
        let exe = self.exe.strip_prefix(self.dir.path()).unwrap();
        let mut program = Command::new(if has_fixed_addresses() {
            "setarch"
        } else {
            "env"
        });
        if has_fixed_addresses() {
            program.arg("-R");
        }
        program.arg(Path::new(".").join(exe)).env_clear();
        program.env("P3_PROFILE_FILE", &name);
        program.env("P3_SEED", seed.to_string());
        program.current_dir(self.dir.path()).output().unwrap();
        let raw = raw::read(&File::open(&file).unwrap()).unwrap();
        std::fs::remove_file(file).unwrap();
        raw
    }

    fn sample(&self, seed: u64) -> Subpaths {
        self.raw(seed).estimates.sample.expect("it samples")
    }

    /// How often each subpath of so many blocks ran.
    fn subpaths(&self, length: usize) -> Counts {
        let mut counts: HashMap<&[u32], u64> = HashMap::new();
        for sequence in &self.sequences {
            for subpath in sequence.windows(length) {
                *counts.entry(subpath).or_default() += 1;
            }
        }
        counts.into_iter().map(|(s, n)| (s.to_vec(), n)).collect()
    }

    fn executed(&self) -> u64 {
        self.sequences.iter().map(|s| s.len() as u64).sum()
    }
}

/// Whether programs can be started at the same addresses each time: some containers forbid it.
fn has_fixed_addresses() -> bool {
    static FIXED: OnceLock<bool> = OnceLock::new();
    *FIXED.get_or_init(|| {
        let tried = Command::new("setarch").args(["-R", "true"]).output();
        tried.is_ok_and(|tried| tried.status.success())
    })
}

/// So many standard deviations are exceeded by chance less than once in a million times (of a normal distribution,
/// 6e-7).
const FAR: f64 = 5.0;

/// The log's blocks, numbered over all functions, without those of functions that are not sampled: in one sequence, or
/// in one of each activation.
fn blocks(out: &Path, log: &Path, within: bool) -> Vec<Vec<u32>> {
    let manifest = json(&out.join("manifest.json"));
    let mut first = Vec::new();
    let mut next = 0;
    for f in manifest["functions"].as_array().unwrap() {
        let sampled = f["status"] == "exact" || f["status"] == "cut";
        first.push(sampled.then_some(next));
        next += f["succs"].as_array().unwrap().len() as u32;
    }
    let mut bytes = Vec::new();
    let mut file = File::open(log).unwrap();
    let mut head = [0; 16];
    file.read_exact(&mut head).unwrap();
    let n = u64::from_le_bytes(head[..8].try_into().unwrap());
    file.take(n * 16).read_to_end(&mut bytes).unwrap();
    let mut functions: HashMap<u64, usize> = HashMap::new();
    let mut sequences: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for record in bytes.chunks_exact(16) {
        let frame = u64::from_le_bytes(record[..8].try_into().unwrap());
        let word = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
        match word(8) {
            0 => drop(functions.insert(frame, word(12) as usize)),
            1 => {
                if let Some(first) = first[functions[&frame]] {
                    let sequence = sequences.entry(if within { frame } else { 0 });
                    sequence.or_default().push(first + word(12));
                }
            }
            _ => {}
        }
    }
    sequences.into_values().collect()
}

/// All points of samples with these seeds.
fn points(sampler: &Sampler, seeds: std::ops::Range<u64>) -> Counts {
    let mut sum = Counts::new();
    for sample in seeds.map(|seed| sampler.sample(seed)) {
        assert_eq!(sample.doublings, 0);
        for (subpath, n) in sample.points {
            *sum.entry(subpath).or_default() += n.counted;
        }
    }
    sum
}

/// Points that are too many or too few: χ² over those of which some are expected, and its degrees of freedom.
fn chi_squared(truth: &Counts, found: &Counts, probability: f64, runs: u64) -> (f64, usize) {
    let mut terms = Vec::new();
    let (mut rare, mut rare_found) = (0.0, 0.0);
    for (subpath, n) in truth {
        let expected = *n as f64 * runs as f64 * probability;
        let found = *found.get(subpath).unwrap_or(&0) as f64;
        if expected < 8.0 {
            (rare, rare_found) = (rare + expected, rare_found + found);
        } else {
            terms.push((found - expected).powi(2) / expected / (1.0 - probability));
        }
    }
    if rare >= 8.0 {
        terms.push((rare_found - rare).powi(2) / rare / (1.0 - probability));
    }
    (terms.iter().sum(), terms.len())
}

/// Whether a χ² can be by chance: within [`FAR`] of its mean (Wilson & Hilferty's normal approximation).
fn is_chance((chi_squared, freedom): (f64, usize)) -> bool {
    assert!(freedom > 3, "there is something to see");
    let n = freedom as f64;
    let z = ((chi_squared / n).cbrt() - 1.0 + 2.0 / (9.0 * n)) / (2.0 / (9.0 * n)).sqrt();
    z.abs() < FAR
}

const UNOPTIMISED: [&str; 3] = ["-O0", "-Xclang", "-disable-O0-optnone"];
const OPTIMISED: [&str; 2] = ["-O2", "-g"];
const WITHIN: [&str; 2] = ["--within", "functions"];

/// Every block begins as many samples as it ran, whatever it is, and every execution counts: a subpath of one block is
/// that.
fn starts_are_uniform(name: &str, flags: &[&str], within: &[&str]) {
    let options = [
        &["--lengths", "1", "--period", "10", "--memory", "1000000"],
        within,
    ]
    .concat();
    let sampler = Sampler::of_program(name, flags, &options);
    let runs = 20.max(20_000 / sampler.executed()).min(200);
    let found = points(&sampler, 1..runs + 1);
    let truth = sampler.subpaths(1);
    assert!(
        found.keys().all(|b| truth.contains_key(b)),
        "blocks that did not run"
    );
    let chi_squared = chi_squared(&truth, &found, 0.1, runs);
    assert!(
        is_chance(chi_squared),
        "{name}: {chi_squared:?} in {runs} runs"
    );
    let all: u64 = found.values().sum();
    let expected = sampler.executed() as f64 * runs as f64 * 0.1;
    let z = (all as f64 - expected) / (expected * 0.9).sqrt();
    assert!(z.abs() < FAR, "{name}: {all} starts instead of {expected}");
}

/// Points of subpaths of every length are as many as their executions make expect, and their 95 % intervals hold them.
fn estimates_hold(name: &str, flags: &[&str], within: &[&str]) {
    let lengths: [(usize, f64); 4] = [
        (2, 8.0 / 15.0),
        (4, 4.0 / 15.0),
        (8, 2.0 / 15.0),
        (16, 1.0 / 15.0),
    ];
    let options = [
        &[
            "--lengths",
            "2,4,8,16",
            "--period",
            "40",
            "--memory",
            "4000000",
        ],
        within,
    ]
    .concat();
    let sampler = Sampler::of_program(name, flags, &options);
    let runs = 20.max(400_000 / sampler.executed()).min(200);
    let samples: Vec<Subpaths> = (1..=runs).map(|seed| sampler.sample(seed)).collect();
    let own = samples.iter().map(|s| s.points.clone()).collect();
    points_hold(name, &sampler, own, &lengths);
    if within.is_empty() {
        let seen = samples
            .iter()
            .map(|s| s.points_by_subpath().into_owned())
            .collect();
        let longer = |(length, _)| {
            let longer = lengths.iter().filter(|(l, _)| *l >= length);
            (length, longer.map(|(_, chance)| chance).sum())
        };
        points_hold(name, &sampler, seen, &lengths.map(longer));
    }
}

/// Points of samples, where lengths were chosen with these chances and blocks with one in 40.
fn points_hold(
    name: &str,
    sampler: &Sampler,
    samples: Vec<BTreeMap<Vec<u32>, Points>>,
    chances: &[(usize, f64)],
) {
    let runs = samples.len() as u64;
    let mut held = vec![Held::default(); samples.len()];
    for &(length, chance) in chances {
        let truth = sampler.subpaths(length);
        let probability = chance / 40.0;
        let mut found = Counts::new();
        for (sample, held) in samples.iter().zip(&mut held) {
            for (subpath, n) in sample.iter().filter(|(s, _)| s.len() == length) {
                *found.entry(subpath.clone()).or_default() += n.counted;
            }
            for (subpath, n) in &truth {
                // Where next to nothing is expected, every interval holds it.
                if *n as f64 * probability >= 5.0 {
                    let points = sample.get(subpath).copied().unwrap_or_default();
                    held.add(estimate(points, probability).contains(*n as f64));
                }
            }
        }
        assert!(
            found.keys().all(|s| truth.contains_key(s)),
            "{name}: subpaths that did not run"
        );
        let chi_squared = chi_squared(&truth, &found, probability, runs);
        assert!(
            is_chance(chi_squared),
            "{name}, {length} blocks: {chi_squared:?}"
        );
    }
    intervals_hold(name, &held);
}

/// The intervals of one run, and how many of them hold the truth.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    held: f64,
    pairs: f64,
}

impl Held {
    fn add(&mut self, holds: bool) {
        self.pairs += 1.0;
        self.held += f64::from(u8::from(holds));
    }
}

/// 93 to 97 %, and what chance adds. Runs are independent of each other; subpaths of one run, which have blocks in
/// common, are not.
fn intervals_hold(name: &str, runs: &[Held]) {
    let pairs: f64 = runs.iter().map(|run| run.pairs).sum();
    assert!(pairs > 100.0 && runs.len() >= 20, "{pairs} pairs");
    let share = runs.iter().map(|run| run.held).sum::<f64>() / pairs;
    let off = |run: &Held| (run.held - share * run.pairs).powi(2);
    let variance = runs.iter().map(off).sum::<f64>() / (runs.len() - 1) as f64;
    let chance = FAR * (variance * runs.len() as f64).sqrt() / pairs;
    assert!(
        (0.93 - chance..0.97 + chance).contains(&share),
        "{name}: {share} of {pairs}, {chance} by chance"
    );
}

fn points_of(sample: &Subpaths, subpath: &[u32]) -> Points {
    sample.points.get(subpath).copied().unwrap_or_default()
}

fn estimate(points: Points, probability: f64) -> Estimate {
    let all = points.counted + points.missed;
    Estimate::of_uncertain(all, points.variance as f64, probability)
}

/// Counting samples in a list that is full again and again: over all seeds the mean of the estimates is the truth,
/// their intervals hold it where the subpath is expected to be listed, and so do those of all samples merged.
fn counting_samples_hold(name: &str, memory: &str) {
    let options = [
        "--lengths",
        "4,8",
        "--period",
        "20",
        "--hot-list",
        "counting",
    ];
    let sampler = Sampler::of_program(
        name,
        &OPTIMISED,
        &[&options[..], &["--memory", memory]].concat(),
    );
    // Seldom a list loses a subpath, and most of its points: means of a hundred runs, in which none did, are far from
    // normal.
    let runs = 250;
    let parts = (1..=runs).map(|seed| SamplePart {
        unique: [u8::try_from(seed).unwrap(); 16],
        sample: sampler.sample(seed),
    });
    let parts: Vec<SamplePart> = parts.collect();
    let samples: Vec<Subpaths> = parts.iter().map(|p| p.sample.clone()).collect();
    assert!(
        samples.iter().any(|s| s.doublings >= 1),
        "{memory} bytes are plenty"
    );
    let all = union(parts).unwrap();
    let (mut sums, mut sums_held) = (0, 0);
    let mut held = vec![Held::default(); samples.len()];
    for (length, chance) in [(4, 2.0 / 3.0), (8, 1.0 / 3.0)] {
        let probability = chance / 20.0;
        for (subpath, n) in &sampler.subpaths(length) {
            let (n, expected) = (*n as f64, *n as f64 * probability);
            let mut counts = Vec::new();
            for (sample, held) in samples.iter().zip(&mut held) {
                let estimate = estimate(points_of(sample, subpath), probability);
                counts.push(estimate.count);
                if expected >= 5.0 * f64::from(1 << sample.doublings) {
                    held.add(estimate.contains(n));
                }
            }
            let listed = counts.iter().filter(|c| **c > 0.0).count();
            if listed as u64 * 3 >= runs {
                let z = z_of_mean(&counts, n);
                assert!(z.abs() < FAR, "{name} {subpath:?}: off by {z} deviations");
                sums += 1;
                let sum = estimate(points_of(&all, subpath), probability);
                sums_held += u64::from(sum.contains(n * runs as f64));
            }
        }
    }
    intervals_hold(name, &held);
    // Not independent of each other: they are of the same samples.
    assert!(
        sums >= 10 && sums_held * 10 >= sums * 8,
        "{sums_held} of {sums}"
    );
}

/// By how many standard deviations the mean of what was found is off the truth.
fn z_of_mean(found: &[f64], truth: f64) -> f64 {
    let n = found.len() as f64;
    let mean = found.iter().sum::<f64>() / n;
    let variance = found.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean - truth) / (variance / n).sqrt()
}

macro_rules! tests {
    ($check:ident: $($name:ident $of:ident $flags:ident $within:expr;)*) => {
        $(#[test]
        fn $name() {
            $check(stringify!($of), &$flags, $within);
        })*
    };
}

mod starts {
    use super::*;

    tests! { starts_are_uniform:
        callbacks callbacks UNOPTIMISED &[];
        callbacks_within callbacks OPTIMISED &WITHIN;
        cleanups cleanups UNOPTIMISED &[];
        exceptions exceptions UNOPTIMISED &[];
        exceptions_within exceptions OPTIMISED &WITHIN;
        irreducible irreducible UNOPTIMISED &[];
        longjmp longjmp UNOPTIMISED &[];
        longjmp_within longjmp OPTIMISED &WITHIN;
        modules modules UNOPTIMISED &[];
        recursion recursion UNOPTIMISED &[];
        recursion_within recursion OPTIMISED &WITHIN;
        short_loops short_loops UNOPTIMISED &[];
        short_loops_optimised short_loops OPTIMISED &[];
        short_loops_within short_loops OPTIMISED &WITHIN;
        switches switches UNOPTIMISED &[];
        tails tails UNOPTIMISED &[];
        tails_optimised tails OPTIMISED &[];
        tails_within tails UNOPTIMISED &WITHIN;
        tails_optimised_within tails OPTIMISED &WITHIN;
    }
}

mod estimates {
    use super::*;

    tests! { estimates_hold:
        demo demo OPTIMISED &[];
        demo_within demo OPTIMISED &WITHIN;
        exceptions exceptions OPTIMISED &[];
        exceptions_within exceptions UNOPTIMISED &WITHIN;
        loops loops OPTIMISED &[];
        loops_within loops UNOPTIMISED &WITHIN;
        recursion recursion OPTIMISED &[];
        short_loops short_loops OPTIMISED &[];
        short_loops_within short_loops OPTIMISED &WITHIN;
        tails tails OPTIMISED &[];
        tails_within tails UNOPTIMISED &WITHIN;
    }
}

#[test]
fn counting_samples_in_little_memory() {
    counting_samples_hold("demo", "6000");
    counting_samples_hold("recursion", "2000");
}

/// Whatever a program does, its copies do: with boundaries everywhere, and a sample in every few blocks.
mod behaviour {
    use super::*;
    use crate::support::{module, original};

    fn programs_behave(flags: &[&str], options: &[&str], part: usize) {
        let folder = project("testdata/programs").read_dir().unwrap();
        let names = folder.map(|e| e.unwrap().path().file_stem().unwrap().to_owned());
        let mut names: Vec<String> = names.map(|n| n.into_string().unwrap()).collect();
        names.sort();
        for name in names.iter().skip(part).step_by(2) {
            let dir = crate::support::folder();
            let dir = dir.path();
            let (modules, expected) = original(name, flags, &flags[..1], dir);
            let options = [&["--period", "20"], options].concat();
            let out = dir.join("out");
            let exe = sampling(&modules, &options, &flags[..1], &out);
            assert_eq!(
                execute(&exe, &out),
                expected,
                "{name} {flags:?} {options:?}"
            );
        }
    }

    /// What a function promises of its parameters, that between its versions does not: it has others.
    #[test]
    fn sizes_of_allocations() {
        let source = "
            #include <stdio.h>
            #include <stdlib.h>
            __attribute__((noinline, alloc_size(2, 3)))
            void *grown(void *old, size_t n, size_t size) {
                size_t all = 0;
                for (size_t i = 0; i < n; i++)
                    all += i % 3 ? size : size + n % 2;
                return realloc(old, all + 1);
            }
            int main(void) {
                int *v = NULL;
                for (int i = 1; i < 200; i++) {
                    v = grown(v, i, sizeof *v);
                    v[i - 1] = i;
                }
                printf(\"%d %d\\n\", v[0], v[198]);
                free(v);
            }";
        let dir = crate::support::folder();
        let modules = [module("grown.c", source, &["-O2"], dir.path())];
        let out = dir.path().join("out");
        let options = [&["--period", "3", "--seed", "1"], &WITHIN[..]].concat();
        let exe = sampling(&modules, &options, &["-O2"], &out);
        assert_eq!(execute(&exe, &out).stdout, "1 199\n");
    }

    /// What is live in a vectorised loop is handed over in the registers of the processor that the function is compiled
    /// for.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn wide_vectors() {
        if !std::is_x86_feature_detected!("avx2") {
            return;
        }
        let source = "
            #include <stdio.h>
            static float all[1000];
            __attribute__((noinline)) static float sums(int n, int times) {
                float s = 0;
                for (int j = 0; j < times; j++)
                    for (int i = 0; i < n; i++)
                        s += all[i] * j;
                return s;
            }
            int main(void) {
                float s = 0;
                for (int i = 0; i < 1000; i++)
                    all[i] = i % 16;
                for (int r = 0; r < 100; r++)
                    s += sums(1000 - r, r % 7);
                printf(\"%f\\n\", s);
            }";
        let flags = ["-O2", "-mavx2", "-ffast-math"];
        for options in [&WITHIN[..], &[]] {
            let dir = crate::support::folder();
            let modules = [module("wide.c", source, &flags, dir.path())];
            let native = dir.path().join("native.exe");
            link(&modules, &[], &flags[..1], &native);
            let expected = execute(&native, &dir.path().join("native"));
            let options = [&["--period", "3", "--seed", "1"], options].concat();
            let out = dir.path().join("out");
            let exe = sampling(&modules, &options, &flags[..1], &out);
            assert_eq!(execute(&exe, &out), expected, "{options:?}");
        }
    }

    macro_rules! parts {
        ($($name:ident $flags:ident $options:expr, $part:literal;)*) => {
            $(#[test]
            fn $name() {
                programs_behave(&$flags, $options, $part);
            })*
        };
    }

    parts! {
        unoptimised_even UNOPTIMISED &[], 0;
        unoptimised_odd UNOPTIMISED &WITHIN, 1;
        optimised_even OPTIMISED &WITHIN, 0;
        optimised_odd OPTIMISED &[], 1;
    }
}
