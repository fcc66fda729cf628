//! What is measured of shadows, with which settings.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All figures of shadows.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shadows {
    pub machine: String,
    pub date: String,
    pub programs: BTreeMap<String, Shadowed>,
    /// Microseconds that a fork takes the parent, the least of many, by resident megabytes.
    pub forks: BTreeMap<u64, f64>,
}

/// One program, on its training input.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shadowed {
    /// Instructions of `main` and all that it calls: of the untouched program, and with shadows
    /// that are never forked.
    pub instructions: [u64; 2],
    /// Page faults of the process: of the untouched program, and with shadows at any cost
    /// (`load=0.5,burst=10M,cost=100%`).
    pub faults: [u64; 2],
    pub found: Vec<Found>,
    /// Seconds of runs of the long input, one after the other: of the untouched program, the same
    /// beside a process that is busy in memory, without shadows (`off`), and with them, as by
    /// default.
    #[serde(default)]
    pub wall: Vec<[f64; 4]>,
    /// What the last of these found together, or longer ones.
    #[serde(default)]
    pub long: Option<Found>,
    /// How long those were, in seconds.
    #[serde(default)]
    pub lasted: f64,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Knobs {
    pub load: f64,
    /// In millions of instructions; 0: not asked for, so 10 or more.
    pub burst: u64,
    /// In percent of the program's time.
    #[serde(default = "any")]
    pub cost: f64,
}

fn any() -> f64 {
    ANY
}

impl Knobs {
    /// As in `P3_SHADOW`.
    pub(super) fn text(self) -> String {
        let burst = match self.burst {
            0 => String::new(),
            millions => format!(",burst={millions}M"),
        };
        format!("load={}{burst},cost={}%", self.load, self.cost)
    }

    pub(super) fn cells(self) -> [String; 3] {
        let cost = match self.cost {
            ANY => "any".to_string(),
            percent => format!("{percent} %"),
        };
        let burst = match self.burst {
            0 => "10 M or more".to_string(),
            millions => format!("{millions} M"),
        };
        [cost, self.load.to_string(), burst]
    }
}

/// What was found with some knobs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    #[serde(flatten)]
    pub knobs: Knobs,
    pub bursts: u64,
    /// Of 1.
    pub overlap: f64,
    /// Above 2, 1 and 0.5 %: paths, those that some burst saw, those whose estimate is as high, and
    /// those whose interval holds the truth.
    pub hot: [[u64; 4]; 3],
}

/// Loads at a burst of 10 M, and bursts at a load of 0.5, whatever that costs: the paper's, and
/// between.
pub(super) const LOADS: [f64; 5] = [0.125, 0.25, 0.5, 1.0, 2.0];
pub(super) const BURSTS: [u64; 3] = [1, 10, 100];
/// The paper's.
pub(super) const THEIRS: (f64, u64) = (0.5, 10);
/// As much as it costs.
const ANY: f64 = 100.0;
/// The defaults.
pub(super) const USUAL: Knobs = Knobs {
    load: 0.5,
    burst: 0,
    cost: 0.5,
};
/// Runs of the program for each, so that even those of a second have bursts.
pub(super) const RUNS: usize = 10;

pub(super) fn knobs_without_limit((load, burst): (f64, u64)) -> Knobs {
    Knobs {
        load,
        burst,
        cost: ANY,
    }
}

pub(super) fn knobs() -> Vec<Knobs> {
    let bursts = BURSTS.iter().filter(|b| **b != THEIRS.1);
    let bursts = bursts.map(|&b| knobs_without_limit((THEIRS.0, b)));
    let loads = LOADS.iter().map(|&l| knobs_without_limit((l, THEIRS.1)));
    let cheap = Knobs {
        cost: USUAL.cost,
        ..knobs_without_limit(THEIRS)
    };
    [USUAL, cheap]
        .into_iter()
        .chain(loads)
        .chain(bursts)
        .collect()
}

impl Shadowed {
    /// With which knobs nothing was measured.
    pub(super) fn missing(&self) -> Vec<Knobs> {
        let known = |k: &Knobs| self.found.iter().any(|f| f.knobs == *k);
        knobs().into_iter().filter(|k| !known(k)).collect()
    }

    /// How long what found [`Shadowed::long`] was.
    pub(super) fn seconds(&self) -> f64 {
        let timed = self.wall.iter().map(|w| w[3]).sum();
        self.lasted.max(timed)
    }

    /// In percent; 0 where that was not measured.
    pub(super) fn overlap(&self, knobs: Knobs) -> f64 {
        self.found
            .iter()
            .find(|f| f.knobs == knobs)
            .map_or(0.0, |f| f.overlap * 100.0)
    }
}
