//! What is measured of sampled subpaths, with which options.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All figures of sampled subpaths.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Subpaths {
    pub machine: String,
    pub date: String,
    pub programs: BTreeMap<String, Sampled>,
    /// The true ranks of the first five, while [`WATCHED`] runs.
    pub incremental: Vec<Look>,
}

/// One program.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Sampled {
    /// Of `main` and all that it calls: `native`, and by [`VARIANTS`].
    pub instructions: BTreeMap<String, u64>,
    /// Blocks that are executed, in millions.
    pub executed: f64,
    /// What the default options sample of it, by [`SEEDS`].
    pub samples: Vec<Accuracy>,
    /// The same with a period of 100 and an eighth of the memory, as a concise and a counting
    /// sample.
    pub full: [Accuracy; 2],
    /// Processor time of runs of seconds, in rounds of all in turn, in seconds: untouched, and by
    /// [`VARIANTS`].
    pub times: Vec<[f64; 1 + VARIANTS.len()]>,
}

/// How far a sample is off.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Accuracy {
    pub points: u64,
    pub doublings: u64,
    /// Of the ten subpaths that ran most often for certain: their true ranks.
    pub ranks: Vec<u64>,
    /// By how much of the true count their counts are off.
    pub errors: Vec<f64>,
    /// How many of them have the true rank, or an interval that holds the count of the one that has
    /// it.
    pub tied: usize,
    /// Of the subpaths with five points or more: how many intervals hold the true count, and how
    /// many there are.
    pub held: [usize; 2],
}

/// A look at a program that runs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Look {
    /// Executed blocks so far, in millions.
    pub blocks: f64,
    pub ranks: Vec<u64>,
}

/// Variants that are counted and timed: name, options, and the period, if it is not that of the
/// default: so large that nothing is sampled.
pub(super) const VARIANTS: [(&str, &[&str], Option<u64>); 4] = [
    ("within functions, skipping", &WITHIN, NEVER),
    ("within functions", &WITHIN, None),
    ("across calls, skipping", &ACROSS, NEVER),
    ("across calls", &ACROSS, None),
];
pub(super) const WITHIN: [&str; 2] = ["--within", "functions"];
pub(super) const ACROSS: [&str; 0] = [];
const NEVER: Option<u64> = Some(1 << 30);

/// The program that is looked at while it runs.
pub(super) const WATCHED: &str = "fft";
/// Samples of the long workload.
pub(super) const SEEDS: [&str; 5] = ["2", "3", "4", "5", "6"];
