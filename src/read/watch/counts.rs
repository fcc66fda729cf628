//! What a look counted.
#![cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use all of it")
)]

use crate::base::index::{BlockId, FuncId, PathId};
use crate::base::table::{group_digits, number_of};
use crate::profile::measurement::ExactCounts;
use std::collections::HashMap;
use std::time::Duration;

/// The estimated share of a path, and half of its interval.
pub(super) type Shares<'a> = Box<dyn Fn(FuncId, PathId) -> [f64; 2] + 'a>;

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum CountKey {
    Path(FuncId, PathId),
    /// Blocks of any functions.
    Subpath(Vec<(FuncId, BlockId)>),
}

#[derive(Clone, Debug)]
pub(super) struct Count {
    pub(super) key: CountKey,
    pub(super) count: f64,
    pub(super) error: Option<f64>,
    pub(super) share: f64,
    /// What is sure of the share: by this the first are found.
    pub(super) sure: f64,
    pub(super) blocks: usize,
    pub(super) rate: Option<f64>,
}

/// What estimates count.
pub(super) enum Counted<'a> {
    /// Paths, as often as they are expected to have run, with the estimates of their shares.
    Paths(ExactCounts<PathId>, Shares<'a>),
    /// Subpaths.
    Subpaths(Counts),
}

/// What a look counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) all: Vec<Count>,
    /// Executed paths, or blocks.
    pub(super) total: f64,
    pub(super) rate: Option<f64>,
}

impl Counts {
    pub(super) fn count_distinct(&self) -> usize {
        self.all.len()
    }

    /// How many of `what` were executed a second, if that is known, behind a comma.
    pub(super) fn rate_of(&self, what: &str) -> String {
        self.rate.map_or(String::new(), |rate| {
            format!(", {} {what} a second", number(rate))
        })
    }

    /// Whether a later look can have seen `later`: what was counted was not taken away.
    pub(super) fn are_before(&self, later: &Counts) -> bool {
        if self.total > later.total {
            return false;
        }
        // Estimates go down as well.
        let exact = self.all.iter().filter(|c| c.error.is_none());
        let later: HashMap<&CountKey, f64> = later.all.iter().map(|c| (&c.key, c.count)).collect();
        exact
            .into_iter()
            .all(|c| later.get(&c.key).is_some_and(|n| *n >= c.count))
    }

    /// Fills in rates.
    pub(super) fn set_rates(&mut self, base: Option<&Counts>, over: Option<Duration>) {
        let (Some(base), Some(over)) = (base, over.filter(|o| !o.is_zero())) else {
            return;
        };
        let seconds = over.as_secs_f64();
        let before: HashMap<&CountKey, f64> = base.all.iter().map(|c| (&c.key, c.count)).collect();
        for c in &mut self.all {
            let was = before.get(&c.key).copied().unwrap_or(0.0);
            c.rate = Some((c.count - was).max(0.0) / seconds);
        }
        self.rate = Some((self.total - base.total).max(0.0) / seconds);
    }
}

/// A number of executions.
pub(super) fn number(n: f64) -> String {
    group_digits(round_count(n))
}

/// A number that may be an estimate, and what `noun` names: `1 path`, `2,000 paths`.
pub(super) fn count_noun(n: f64, noun: &str) -> String {
    number_of(round_count(n), noun)
}

fn round_count(n: f64) -> u128 {
    n.round().max(0.0) as u128
}
