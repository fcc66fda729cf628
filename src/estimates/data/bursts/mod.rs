//! Bursts: what forked shadows of a program counted (`docs/SHADOWS.md`).
//!
//! A burst is a piece of one execution, in which all paths are counted. Bursts begin at random points of processor time
//! and have a fixed number of instructions, so slow code has more of them than its share of paths. What a burst tells
//! of the point where it begins is a *rate*: paths per nanosecond that the program itself takes for it. The mean of
//! rates over points of time is executed paths over time. A sum of counts would instead be length-biased (Cox, *Some
//! Sampling Problems in Technology*, 1969), each burst drawn in proportion to its time.
//!
//! How rare bursts are changes while a program runs, and from run to run. A burst that was drawn once in a *period* of
//! processor time stands for as much of it (Horvitz & Thompson, *A Generalization of Sampling Without Replacement from
//! a Finite Universe*, 1952): its rate times that period estimates how often its paths ran meanwhile, and the sum of
//! those how often they ran.
//!
//! Paths inside a burst are not independent of each other: bursts are clusters, and a path's share is a ratio of two
//! sums over them (Cochran, *Sampling Techniques*, 1977, §6.3, §9A.1), of such estimates here.

pub(crate) mod merge;
pub(crate) mod raw;

pub use raw::{Burst, ShadowsOfProcess};

use super::number::{Estimate, Z95};
use crate::base::index::{FuncId, PathId, TiVec, ti_vec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of shadows: of those of one process, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadows {
    /// The length that bursts were to have, in instructions; 0: that is not known, or they differ.
    pub length: u64,
    /// Shadows that were forked; more than bursts, where some were killed.
    pub started: u64,
    /// Those without room for their record.
    pub not_written: u64,
    /// Forks that failed.
    pub not_forked: u64,
    /// How often enough shadows were there already.
    pub busy: u64,
    /// How often too little memory was.
    pub short_of_memory: u64,
    /// Shadows at a time that were asked for, in thousandths; 0: that is not known, or differs.
    pub load: u64,
    /// What they may cost the program, in millionths of its processor time; 0: that is not known, or differs.
    pub cost: u64,
    /// What they did cost, in nanoseconds of it.
    pub spent: u64,
    /// The program's processor time, in nanoseconds.
    pub time: u64,
    /// Nanoseconds that all shadows took.
    pub lived: u64,
}

impl Shadows {
    /// With others; what was asked for is known where it was the same.
    fn plus(self, other: Shadows) -> Shadows {
        let alike = |mine: u64, other: u64| if mine == other { mine } else { 0 };
        Shadows {
            length: alike(self.length, other.length),
            load: alike(self.load, other.load),
            cost: alike(self.cost, other.cost),
            ..self.plus_counts(other)
        }
    }

    /// With the numbers of others, whatever was asked for there.
    fn plus_counts(self, other: Shadows) -> Shadows {
        Shadows {
            started: self.started + other.started,
            not_written: self.not_written + other.not_written,
            not_forked: self.not_forked + other.not_forked,
            busy: self.busy + other.busy,
            short_of_memory: self.short_of_memory + other.short_of_memory,
            spent: self.spent.saturating_add(other.spent),
            time: self.time.saturating_add(other.time),
            lived: self.lived.saturating_add(other.lived),
            ..self
        }
    }
}

/// What all bursts together say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// What became of all shadows.
    #[serde(flatten)]
    pub shadows: Shadows,
    /// Processes whose shadows ended while they ran on, since they filter their own system calls.
    #[serde(default)]
    pub filtered: u64,
    /// Processes whose shadows ended while they ran on, since they use the timer's signal.
    #[serde(default)]
    pub signal_taken: u64,
    /// Why bursts ended: reason, number of the system call or signal, how many.
    pub ended: Vec<(u32, u32, u64)>,
    /// System calls: number, treatment, how often.
    pub calls: Vec<(u32, u32, u64)>,
    /// Bursts in which paths were counted.
    pub counting: u64,
    /// Executed instructions.
    pub instructions: u64,
    /// The time that they took.
    pub nanoseconds: u64,
    /// Processor time that the program itself takes for the same, in nanoseconds.
    pub native: u64,
    /// Bursts of which no twin found that out: it is as much of what counting took as others with the same paths took.
    pub untimed: u64,
    /// Executed paths.
    pub paths: u64,
    /// The sum of what bursts stand for, in executed paths.
    pub executions: f64,
    /// The sum of their squares.
    pub squares: f64,
    /// By function: paths that ran, by canonical id, and what bursts say of them.
    pub counts: TiVec<FuncId, Vec<(PathId, InBursts)>>,
}

/// What bursts say of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InBursts {
    /// How often it ran in all of them.
    pub count: u64,
    /// In how many it did.
    pub bursts: u64,
    /// The sum of the executions that they stand for.
    pub executions: f64,
    /// The sum of their squares.
    pub squares: f64,
    /// The sum of its executions times those of all paths of the burst.
    pub products: f64,
}

impl InBursts {
    /// What one burst says, in which a path ran `count` times and all together ran `all` times, and which stands for
    /// `times` as much.
    pub(super) fn from_one_burst(count: u64, all: u64, times: f64) -> InBursts {
        let (one, all) = (count as f64 * times, all as f64 * times);
        InBursts {
            count,
            bursts: u64::from(count > 0),
            executions: one,
            squares: one * one,
            products: one * all,
        }
    }

    /// With what another set of bursts says; `None` when a count overflows.
    pub(super) fn plus(self, other: InBursts) -> Option<InBursts> {
        Some(InBursts {
            count: self.count.checked_add(other.count)?,
            bursts: self.bursts.checked_add(other.bursts)?,
            executions: self.executions + other.executions,
            squares: self.squares + other.squares,
            products: self.products + other.products,
        })
    }
}

impl Bursts {
    /// Of a program with so many functions, before anything ran.
    pub fn empty(functions: usize) -> Bursts {
        Bursts {
            counts: ti_vec![Vec::new(); functions],
            ..Bursts::default()
        }
    }

    /// Whether nothing in it is out of range, for a program with so many functions.
    pub(crate) fn is_sound(&self, functions: usize) -> bool {
        let ascend = |of: &Vec<(PathId, InBursts)>| of.windows(2).all(|w| w[0].0 < w[1].0);
        let all = || self.counts.iter().flatten().map(|c| c.1);
        let fits = |p: InBursts| {
            p.count > 0 && p.count <= self.paths && p.bursts <= self.counting && p.executions >= 0.0
        };
        let number = self.ended.iter().try_fold(0u64, |n, e| n.checked_add(e.2));
        self.counts.len() == functions
            && self.counts.iter().all(ascend)
            && all().all(fits)
            && number.is_some_and(|n| self.counting <= n)
    }

    /// The number of bursts, those included in which nothing was counted.
    pub fn number(&self) -> u64 {
        self.ended.iter().map(|e| e.2).sum()
    }

    /// The share of a path among all executed paths, from 0 to 1 ([`Estimate::count`] is a share here).
    ///
    /// It is the ratio of two sums of executions, and the variance is that of such a ratio over clusters, with
    /// Student's quantile, since bursts may be few. They stand for more and for less, so they tell as much as fewer
    /// equal ones do: (Σ executions)² / Σ executions² (Kish, *Survey Sampling*, 1965, §11.2). Phases that no burst fell
    /// into leave no trace in the variance: one burst more is added to it, as long as they are on average, in which the
    /// path did not run (as Laplace's rule of succession has it). From fewer than two bursts nothing is known of the
    /// error: the half width is 1.
    pub fn share(&self, path: InBursts) -> Estimate {
        let all = self.executions;
        let share = if all > 0.0 {
            path.executions / all
        } else {
            0.0
        };
        if self.counting < 2 || all <= 0.0 {
            return Estimate {
                count: share,
                half_width: 1.0,
            };
        }
        let n = (all * all / self.squares).max(2.0);
        let residuals = path.squares - 2.0 * share * path.products + share * share * self.squares;
        let variance = residuals.max(0.0) / (all * all) + (share / n).powi(2);
        let half_width = student95(n - 1.0) * (variance * n / (n - 1.0)).sqrt();
        Estimate {
            count: share,
            half_width: half_width.min(1.0),
        }
    }

    /// How often each path would have run in as many executions as were counted, by the shares; at least once. By
    /// function, as counts.
    pub fn expected_counts(&self) -> TiVec<FuncId, Vec<(PathId, u64)>> {
        let all = self.paths as f64 / self.executions.max(f64::MIN_POSITIVE);
        let expected = |p: &InBursts| ((p.executions * all).round() as u64).max(1);
        let of =
            |of: &Vec<(PathId, InBursts)>| of.iter().map(|(id, p)| (*id, expected(p))).collect();
        self.counts.iter().map(of).collect()
    }

    /// What bursts say of a path.
    pub fn find_path(&self, f: FuncId, id: PathId) -> InBursts {
        let counts = &self.counts[f];
        match counts.binary_search_by_key(&id, |c| c.0) {
            Ok(i) => counts[i].1,
            Err(_) => InBursts::default(),
        }
    }

    /// The estimated share of a path, and half of its interval.
    pub(crate) fn shares(&self) -> impl Fn(FuncId, PathId) -> [f64; 2] {
        |f, id| {
            let share = self.share(self.find_path(f, id));
            [share.count, share.half_width]
        }
    }
}

/// The quantile of Student's distribution with `freedom` (at least 1) degrees of freedom for intervals of 95 %: exact
/// for one, and from three on Peizer & Pratt's series to 1/ν⁴ (Abramowitz & Stegun, 26.7.5), off by less than 1 %.
fn student95(freedom: f64) -> f64 {
    if freedom < 1.5 {
        return 12.706;
    }
    if freedom < 2.5 {
        return 4.303;
    }
    let z = Z95;
    let powers = |n: i32| z.powi(n);
    let terms = [
        (powers(3) + z) / 4.0,
        (5.0 * powers(5) + 16.0 * powers(3) + 3.0 * z) / 96.0,
        (3.0 * powers(7) + 19.0 * powers(5) + 17.0 * powers(3) - 15.0 * z) / 384.0,
        (79.0 * powers(9) + 776.0 * powers(7) + 1482.0 * powers(5)
            - 1920.0 * powers(3)
            - 945.0 * z)
            / 92160.0,
    ];
    let terms = terms.iter().zip(1..);
    z + terms.map(|(t, n)| t / freedom.powi(n)).sum::<f64>()
}

/// Adds numbers by what they are of.
pub(super) fn tally(all: impl IntoIterator<Item = (u32, u32, u64)>) -> Vec<(u32, u32, u64)> {
    let mut sums: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (what, which, n) in all {
        let sum = sums.entry((what, which)).or_default();
        *sum = sum.saturating_add(n);
    }
    sums.into_iter().map(|((a, b), n)| (a, b, n)).collect()
}

#[cfg(test)]
mod tests;
