//! The runtime's list, fed with streams of blocks that `sampling_test.c` makes.

use super::*;
use crate::support::driver::{SANITIZERS, built};
use p3_rewrite::estimates::data::Z95;
use std::time::Duration;

fn plain() -> PathBuf {
    built("sampling_test", &[])
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
    raw.estimates.sample.expect("it samples")
}

fn sample(arguments: &str, seed: u64) -> Subpaths {
    let dir = crate::support::folder();
    let (mut driver, file) = command(&plain(), arguments, seed, dir.path());
    run(&mut driver);
    read(&file)
}

/// The bytes of the entries, headers and all.
fn bytes(sample: &Subpaths) -> u64 {
    let size = |s: &Vec<u32>| 8 + 4 * s.len() as u64;
    sample.points.keys().map(size).sum()
}

fn points(sample: &Subpaths) -> u64 {
    sample.count_points()
}

fn points_of(sample: &Subpaths, block: u32) -> u64 {
    super::points_of(sample, &[block]).counted
}

/// The sample of a million blocks, none of which comes again, in so many bytes.
fn distinct(memory: u64, list: &str) -> Subpaths {
    let sample = sample(&format!("distinct 1000000 {memory} 1{list}"), 1);
    assert!(sample.points.values().all(|n| n.counted == 1));
    assert!(bytes(&sample) <= memory, "{} of {memory}", bytes(&sample));
    sample
}

/// A million blocks, none of which comes again: the list holds as many as it has room for and stands for all.
#[test]
fn all_distinct() {
    for memory in [2048, 65536] {
        let sample = distinct(memory, "");
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
    let n = sample.points[&vec![7; 4]].counted;
    assert!(n.abs_diff(500_000) < 4 * 500, "{n}");
}

/// What was hot at first, and what was later, stand beside each other with what they are worth, whatever came in
/// between.
#[test]
fn a_change_of_phase() {
    let sample = sample("phases 4000000 16384 1", 3);
    let period = (2u64 << sample.doublings) as f64;
    assert!(bytes(&sample) <= 16384 && sample.doublings >= 3);
    for (first, truth) in [(0, 200_000.0), (500, 100_000.0)] {
        for block in first..first + 10 {
            let n = points_of(&sample, block);
            let error = 4.5 * (truth / period).sqrt() * period;
            assert!(
                (n as f64 * period - truth).abs() < error,
                "{block}: {n} · {period}"
            );
        }
    }
}

/// The same streams for counting samples: as much memory, and samples that stay as frequent.
#[test]
fn counting() {
    for memory in [2048, 65536] {
        let sample = distinct(memory, " counting");
        let threshold = (1u64 << sample.doublings) as f64;
        let (found, all) = (points(&sample) as f64, 500_000.0);
        let error = 4.0 * found.sqrt() * threshold;
        assert!(
            (found * threshold - all).abs() < error,
            "{found} in {threshold}"
        );
        assert!(
            sample.blocks.abs_diff(1_000_000) < 10_000,
            "{}",
            sample.blocks
        );
    }
    let one = sample("one 1000000 1024 4 counting", 2);
    assert_eq!((one.points.len(), one.doublings), (1, 0));
    assert!(one.points[&vec![7; 4]].counted.abs_diff(500_000) < 4 * 500);
    let sample = sample("phases 4000000 16384 1 counting", 3);
    assert!(bytes(&sample) <= 16384 && sample.doublings >= 3);
    for (first, truth) in [(0, 200_000.0), (500, 100_000.0)] {
        for block in first..first + 10 {
            let estimate = estimate(super::points_of(&sample, &[block]), 0.5);
            // As large a concise sample would have so many points less.
            let (off, most) = (
                (estimate.count - truth).abs(),
                4.5 * estimate.half_width / Z95,
            );
            assert!(off < most, "{block}: {estimate:?}");
            let concise = Z95 * (truth * (2u64 << sample.doublings) as f64).sqrt();
            assert!(estimate.half_width < concise / 4.0, "{block}: {estimate:?}");
        }
    }
}

/// Blocks of all frequencies among others that never come again, in a list with room for some tens: estimates are right
/// on average, those of what is hardly ever listed as well, and intervals hold the truth where a block is expected to
/// be listed.
#[test]
fn counting_is_unbiased() {
    const RUNS: u64 = 200;
    let (mut counts, mut held) = (vec![Vec::new(); 9], Vec::new());
    for seed in 1..=RUNS {
        let mut of_run = Held::default();
        let sample = sample("skewed 60000 4096 1 counting", seed);
        assert!(sample.doublings >= 5 && bytes(&sample) <= 4096);
        for (block, counts) in (0u32..).zip(&mut counts) {
            let truth = f64::from((30_000 + (1 << block)) >> (block + 1));
            let estimate = estimate(super::points_of(&sample, &[block]), 0.5);
            counts.push(estimate.count);
            if truth * 0.5 >= 5.0 * f64::from(1 << sample.doublings) {
                of_run.add(estimate.contains(truth));
            }
        }
        held.push(of_run);
    }
    for (block, counts) in counts.iter().enumerate() {
        let truth = f64::from((30_000 + (1 << block)) >> (block + 1));
        let z = z_of_mean(counts, truth);
        assert!(z.abs() < FAR, "{block}: off by {z} deviations");
    }
    intervals_hold("skewed", &held);
}

#[test]
fn threads() {
    let sample = sample("threads 2000000 65536 2", 4);
    assert_eq!(sample.points.len(), 4);
    for (subpath, n) in &sample.points {
        // Where one is adding while it has no core, others crowd samples out: which, does not depend on what they are.
        let recorded = 1.0 - sample.crowded as f64 / sample.blocks as f64;
        let off = (n.counted as f64 / recorded - 40_000.0).abs();
        assert!(
            recorded > 0.2 && off < 1200.0,
            "{subpath:?}: {n:?} of {recorded}"
        );
    }
}

/// Handlers interrupt the runtime, too: they are not sampled then, and nothing else is lost.
#[test]
fn signals() {
    let dir = crate::support::folder();
    let (mut driver, file) = command(&plain(), "signals 3000000 65536 1", 5, dir.path());
    let printed = String::from_utf8(run(&mut driver).stdout).unwrap();
    let in_handlers: u64 = printed.trim().parse().unwrap();
    let sample = read(&file);
    let main = points_of(&sample, 1);
    assert!(main.abs_diff(1_500_000) < 1_500_000 / 50, "{main}");
    let handled = points_of(&sample, 1000);
    assert!(handled <= in_handlers, "{handled} of {in_handlers}");
    assert!(sample.points.len() <= 2);
}

/// A list that is being written can be read, and one that will never be finished.
#[test]
fn list_is_valid_at_any_moment() {
    read_and_killed("for-ever 100000 4096 2");
    read_and_killed("for-ever 100000 4096 2 counting");
}

fn read_and_killed(arguments: &str) {
    let dir = crate::support::folder();
    let (mut driver, file) = command(&plain(), arguments, 6, dir.path());
    let mut child = driver.spawn().unwrap();
    // The file is there before the program has said in it that it samples.
    let begun = || raw::read(&File::open(&file).ok()?).ok()?.estimates.sample;
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
    for flags in SANITIZERS {
        let exe = built("sampling_test", flags);
        for arguments in [
            "distinct 200000 4096 16",
            "phases 200000 2048 64",
            "threads 20000 4096 4",
            "phases 200000 2048 64 counting",
            "threads 20000 4096 4 counting",
        ] {
            let dir = crate::support::folder();
            let (mut driver, file) = command(&exe, arguments, 7, dir.path());
            let output = run(driver.env("TSAN_OPTIONS", "die_after_fork=0"));
            assert_eq!(String::from_utf8_lossy(&output.stderr), "");
            assert!(points(&read(&file)) > 0);
        }
    }
}
