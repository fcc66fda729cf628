//! Samples of subpaths against all that ran, counted in a log of executed blocks.
//!
//! Every block execution begins a sample with probability 1 / period, whatever else happens: so points of subpaths are binomial.
//! Seeds are fixed, and so are the samples.

use crate::support::{
    compile, copy_modules, execute, json, link, llvm, project, rewrite, run, runtime, tracer,
};
use p3_rewrite::profile::estimate::{Estimate, Z95};
use p3_rewrite::profile::raw::{self, Raw};
use p3_rewrite::profile::subpaths::Subpaths;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

type Counts = BTreeMap<Vec<u32>, u64>;

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
        let options = [&["--scheme", "subpath"], options].concat();
        rewrite(modules, &options, &out);
        let exe = dir.path().join("sampler.exe");
        link(&copy_modules(modules, &out, 0), runtime(), linking, &exe);
        assert_eq!(execute(&exe, &out), expected);
        let sequences = blocks(&out, &traced.join("trace"), options.contains(&"--within"));
        Sampler {
            dir,
            exe,
            sequences,
        }
    }

    fn of_program(name: &str, flags: &[&str], options: &[&str]) -> Sampler {
        let dir = tempfile::tempdir().unwrap();
        let modules = compile(name, flags, &dir.path().join("input"));
        Sampler::new(&modules, &flags[..1], options, dir)
    }

    /// What a run with this seed samples.
    fn raw(&self, seed: u64) -> Raw {
        let file = self.dir.path().join(format!("{seed}.p3raw"));
        let mut program = Command::new(&self.exe);
        program.env("P3_PROFILE_FILE", &file);
        program.env("P3_SEED", seed.to_string()).output().unwrap();
        let raw = raw::read(&File::open(&file).unwrap()).unwrap();
        std::fs::remove_file(file).unwrap();
        raw
    }

    fn sample(&self, seed: u64) -> Subpaths {
        self.raw(seed).sample.expect("it samples")
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

/// The log's blocks, numbered over all functions, without those of functions that are not sampled: in one sequence, or in one of
/// each activation.
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
            *sum.entry(subpath).or_default() += n;
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

/// Whether a χ² can be by chance: within four standard deviations of its mean (Wilson & Hilferty's normal approximation).
fn is_chance((chi_squared, freedom): (f64, usize)) -> bool {
    assert!(freedom > 3, "there is something to see");
    let n = freedom as f64;
    let z = ((chi_squared / n).cbrt() - 1.0 + 2.0 / (9.0 * n)) / (2.0 / (9.0 * n)).sqrt();
    z.abs() < 4.0
}

const UNOPTIMISED: [&str; 3] = ["-O0", "-Xclang", "-disable-O0-optnone"];
const OPTIMISED: [&str; 2] = ["-O2", "-g"];
const WITHIN: [&str; 2] = ["--within", "functions"];

/// Every block begins as many samples as it ran, whatever it is, and every execution counts: a subpath of one block is that.
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
    assert!(z.abs() < 4.0, "{name}: {all} starts instead of {expected}");
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
    let (mut pairs, mut held) = (0u64, 0u64);
    for (length, chance) in lengths {
        let truth = sampler.subpaths(length);
        let probability = chance / 40.0;
        let mut found = Counts::new();
        for sample in &samples {
            for (subpath, n) in sample.points.iter().filter(|(s, _)| s.len() == length) {
                *found.entry(subpath.clone()).or_default() += n;
            }
            for (subpath, n) in &truth {
                // Where next to nothing is expected, every interval holds it.
                if *n as f64 * probability >= 5.0 {
                    let points = sample.points.get(subpath).copied().unwrap_or(0);
                    pairs += 1;
                    held += u64::from(Estimate::of_points(points, probability).holds(*n as f64));
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
    let (share, pairs) = (held as f64 / pairs as f64, pairs as f64);
    assert!(pairs > 100.0, "{pairs} pairs");
    // 93 to 97 %, and what chance adds to so few pairs.
    let chance = Z95 * (0.95 * 0.05 / pairs).sqrt();
    assert!(
        (0.93 - chance..0.97 + chance).contains(&share),
        "{name}: {share} of {pairs}"
    );
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
        switches switches UNOPTIMISED &[];
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
    }
}

/// Whatever a program does, its copies do: with boundaries everywhere, and a sample in every few blocks.
mod behaviour {
    use super::*;
    use crate::support::original;

    fn programs_behave(flags: &[&str], options: &[&str], part: usize) {
        let folder = project("testdata/programs").read_dir().unwrap();
        let names = folder.map(|e| e.unwrap().path().file_stem().unwrap().to_owned());
        let mut names: Vec<String> = names.map(|n| n.into_string().unwrap()).collect();
        names.sort();
        for name in names.iter().skip(part).step_by(2) {
            let dir = tempfile::tempdir().unwrap();
            let dir = dir.path();
            let (modules, expected) = original(name, flags, &flags[..1], dir);
            let options = [&["--scheme", "subpath", "--period", "20"], options].concat();
            let out = dir.join("out");
            rewrite(&modules, &options, &out);
            let exe = dir.join("sampler.exe");
            link(
                &copy_modules(&modules, &out, 0),
                runtime(),
                &flags[..1],
                &exe,
            );
            assert_eq!(
                execute(&exe, &out),
                expected,
                "{name} {flags:?} {options:?}"
            );
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

/// The runtime's list, fed with streams of blocks that `sampling_test.c` makes.
mod list {
    use super::*;
    use crate::support::driver::sources;
    use std::sync::OnceLock;
    use std::time::Duration;

    fn driver(flags: &[&str]) -> PathBuf {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let name = format!("sampling-{}{}", std::process::id(), flags.concat());
        let exe = dir.join(name);
        let mut clang = Command::new(llvm("clang"));
        clang.args(["-std=gnu11", "-O1", "-g", "-pthread", "-I"]);
        clang.arg(project("runtime-c")).args(flags).args(sources());
        let source = project("tests/it/support/sampling_test.c");
        run(clang.arg(source).arg("-o").arg(&exe));
        exe
    }

    fn plain() -> &'static Path {
        static DRIVER: OnceLock<PathBuf> = OnceLock::new();
        DRIVER.get_or_init(|| driver(&[]))
    }

    /// The command that feeds a list, and where its profile will be.
    fn command(exe: &Path, arguments: &str, seed: u64, dir: &Path) -> (Command, PathBuf) {
        let file = dir.join(format!("{seed}.p3raw"));
        let mut driver = Command::new(exe);
        driver
            .args(arguments.split(' '))
            .env("P3_PROFILE_FILE", &file);
        driver.env("P3_SEED", seed.to_string());
        (driver, file)
    }

    fn read(file: &Path) -> Subpaths {
        let raw = raw::read(&File::open(file).unwrap()).unwrap();
        raw.sample.expect("it samples")
    }

    fn sample(arguments: &str, seed: u64) -> Subpaths {
        let dir = tempfile::tempdir().unwrap();
        let (mut driver, file) = command(plain(), arguments, seed, dir.path());
        run(&mut driver);
        read(&file)
    }

    /// The bytes of the entries, headers and all.
    fn bytes(sample: &Subpaths) -> u64 {
        let size = |s: &Vec<u32>| 8 + 4 * s.len() as u64;
        sample.points.keys().map(size).sum()
    }

    fn points(sample: &Subpaths) -> u64 {
        sample.points.values().sum()
    }

    /// A million blocks, none of which comes again: the list holds as many as it has room for and stands for all.
    #[test]
    fn all_distinct() {
        for memory in [2048, 65536] {
            let sample = sample(&format!("distinct 1000000 {memory} 1"), 1);
            assert!(sample.points.values().all(|&n| n == 1));
            assert!(bytes(&sample) <= memory, "{} of {memory}", bytes(&sample));
            let period = (2u64 << sample.doublings) as f64;
            let (found, all) = (points(&sample) as f64, 1e6);
            let error = 4.0 * (found).sqrt() * period;
            assert!(
                (found * period - all).abs() < error,
                "{found} points, one in {period}"
            );
            assert!(sample.doublings >= 5);
            assert!(
                (sample.blocks as f64 / all - 1.0).abs() < 0.5,
                "{}",
                sample.blocks
            );
        }
    }

    #[test]
    fn one_alone() {
        let sample = sample("one 1000000 1024 4", 2);
        assert_eq!((sample.points.len(), sample.doublings), (1, 0));
        // Each may begin a sample as long as no more than eight are under way.
        let n = sample.points[&vec![7; 4]];
        assert!(n.abs_diff(500_000) < 4 * 500, "{n}");
    }

    /// What was hot at first, and what was later, stand beside each other with what they are worth, whatever came in between.
    #[test]
    fn a_change_of_phase() {
        let sample = sample("phases 4000000 16384 1", 3);
        let period = (2u64 << sample.doublings) as f64;
        assert!(bytes(&sample) <= 16384 && sample.doublings >= 3);
        for (first, truth) in [(0, 200_000.0), (500, 100_000.0)] {
            for block in first..first + 10 {
                let n = sample.points.get(&vec![block]).copied().unwrap_or(0);
                let error = 4.5 * (truth / period).sqrt() * period;
                assert!(
                    (n as f64 * period - truth).abs() < error,
                    "{block}: {n} · {period}"
                );
            }
        }
    }

    #[test]
    fn threads() {
        let sample = sample("threads 2000000 65536 2", 4);
        assert_eq!(sample.points.len(), 4);
        for (subpath, n) in &sample.points {
            // Where one is adding while it has no core, others crowd samples out: which, does not depend on what they are.
            let recorded = 1.0 - sample.crowded as f64 / sample.blocks as f64;
            let off = (*n as f64 / recorded - 40_000.0).abs();
            assert!(
                recorded > 0.2 && off < 1200.0,
                "{subpath:?}: {n} of {recorded}"
            );
        }
    }

    /// Handlers interrupt the runtime, too: they are not sampled then, and nothing else is lost.
    #[test]
    fn signals() {
        let dir = tempfile::tempdir().unwrap();
        let (mut driver, file) = command(plain(), "signals 3000000 65536 1", 5, dir.path());
        let printed = String::from_utf8(run(&mut driver).stdout).unwrap();
        let in_handlers: u64 = printed.trim().parse().unwrap();
        let sample = read(&file);
        let main = sample.points[&vec![1]];
        assert!(main.abs_diff(1_500_000) < 1_500_000 / 50, "{main}");
        let handled = sample.points.get(&vec![1000]).copied().unwrap_or(0);
        assert!(handled <= in_handlers, "{handled} of {in_handlers}");
        assert!(sample.points.len() <= 2);
    }

    /// A list that is being written can be read, and one that will never be finished.
    #[test]
    fn at_any_moment() {
        let dir = tempfile::tempdir().unwrap();
        let (mut driver, file) = command(plain(), "for-ever 100000 4096 2", 6, dir.path());
        let mut child = driver.spawn().unwrap();
        // The file is there before the program has said in it that it samples.
        let begun = || raw::read(&File::open(&file).ok()?).ok()?.sample;
        while begun().is_none_or(|s| points(&s) == 0) {
            std::thread::sleep(Duration::from_millis(1));
        }
        for _ in 0..200 {
            let sample = read(&file);
            assert!(bytes(&sample) <= 4096);
            assert!(sample.points.keys().all(|s| s[1] == s[0] + 1 || s[1] == 0));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(points(&read(&file)) > 0);
    }

    #[test]
    fn sanitizers() {
        for flags in [
            &["-fsanitize=address,undefined"][..],
            &["-fsanitize=thread"],
        ] {
            let exe = driver(&[flags, &["-fno-sanitize-recover=all"]].concat());
            for arguments in [
                "distinct 200000 4096 16",
                "phases 200000 2048 64",
                "threads 20000 4096 4",
            ] {
                let dir = tempfile::tempdir().unwrap();
                let (mut driver, file) = command(&exe, arguments, 7, dir.path());
                let output = run(driver.env("TSAN_OPTIONS", "die_after_fork=0"));
                assert_eq!(String::from_utf8_lossy(&output.stderr), "");
                assert!(points(&read(&file)) > 0);
            }
        }
    }
}
