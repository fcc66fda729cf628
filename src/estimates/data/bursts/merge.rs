//! Bursts of many processes and runs → what all of them say.

use super::{Burst, Bursts, InBursts, ShadowsOfProcess, tally};
use crate::base::error::Result;
use crate::base::index::{FuncId, PathId, ti_vec};
use crate::estimates::data::interface::Overflow;
use std::collections::BTreeMap;

/// What was read so far of one copy's bursts, by the ids that the copy counts under.
#[derive(Default)]
pub(crate) struct GatheredBursts {
    /// All but the counts.
    sum: Bursts,
    counts: BTreeMap<FuncId, BTreeMap<u64, InBursts>>,
    /// What twins found.
    paces: Paces,
    /// Bursts that none timed, with their executed paths: what they stand for is known when all are read.
    untimed: Vec<(Burst, u64)>,
    /// Whether a process was added.
    any: bool,
}

/// What code takes the program, and its shadows.
#[derive(Clone, Copy, Default)]
struct Pace {
    native: f64,
    counting: f64,
}

impl Pace {
    fn add(&mut self, burst: &Burst, part: f64) {
        self.native += burst.native as f64 * part;
        self.counting += burst.nanoseconds as f64 * part;
    }

    /// The one as a part of the other.
    fn ratio(self) -> Option<f64> {
        (self.counting > 0.0).then(|| self.native / self.counting)
    }
}

/// Counting takes some code three times as long as it takes the program, and hardly slows other code down. So bursts
/// that were not timed are taken for what bursts were in which the same paths ran.
#[derive(Default)]
struct Paces {
    all: Pace,
    /// Of bursts in which a path ran, each in proportion to the path's share of it.
    of: BTreeMap<(FuncId, u64), Pace>,
}

impl Paces {
    /// Notes a burst with `n` executed paths that a twin timed.
    fn note_burst(&mut self, burst: &Burst, n: u64) {
        self.all.add(burst, 1.0);
        for &(func, id, count) in &burst.paths {
            let part = count as f64 / n as f64;
            self.of.entry((func, id)).or_default().add(burst, part);
        }
    }

    /// Nanoseconds of the program for another one.
    fn native_time(&self, burst: &Burst, n: u64) -> u64 {
        let Some(usual) = self.all.ratio() else {
            return burst.native;
        };
        let of = |&(func, id, count): &(FuncId, u64, u64)| {
            let pace = self.of.get(&(func, id)).and_then(|p| p.ratio());
            pace.unwrap_or(usual) * count as f64 / n as f64
        };
        let part: f64 = burst.paths.iter().map(of).sum();
        ((part * burst.nanoseconds as f64).round() as u64).max(1)
    }
}

impl GatheredBursts {
    /// Adds what one raw profile holds; an error when counts overflow. O(paths).
    pub(crate) fn add(
        &mut self,
        bursts: &[Burst],
        shadows: &[ShadowsOfProcess],
    ) -> Result<(), Overflow> {
        let sum = &mut self.sum;
        for shadows in shadows {
            sum.shadows = if std::mem::replace(&mut self.any, true) {
                sum.shadows.plus(shadows.all)
            } else {
                shadows.all
            };
            sum.filtered += u64::from(shadows.ended == 1);
            sum.signal_taken += u64::from(shadows.ended == 2);
        }
        for burst in bursts {
            let sum = &mut self.sum;
            let ended = [(burst.why, burst.detail, 1)];
            sum.ended = tally(std::mem::take(&mut sum.ended).into_iter().chain(ended));
            let calls = burst.calls.iter().copied();
            sum.calls = tally(std::mem::take(&mut sum.calls).into_iter().chain(calls));
            let n = count_executed(burst)?;
            if n > 0 && !burst.timed {
                self.untimed.push((burst.clone(), n));
                continue;
            }
            if n > 0 {
                self.paces.note_burst(burst, n);
            }
            self.count(burst, n, burst.native)?;
        }
        Ok(())
    }

    /// Adds a burst with `n` executed paths that takes the program so many nanoseconds.
    fn count(&mut self, burst: &Burst, n: u64, native: u64) -> Result<(), Overflow> {
        let sum = &mut self.sum;
        sum.counting += u64::from(n > 0);
        sum.paths = sum.paths.checked_add(n).ok_or(Overflow)?;
        let times = burst.period as f64 / native as f64;
        let all = n as f64 * times;
        sum.executions += all;
        sum.squares += all * all;
        sum.instructions = sum.instructions.saturating_add(burst.instructions);
        sum.nanoseconds = sum.nanoseconds.saturating_add(burst.nanoseconds);
        sum.native = sum.native.saturating_add(native);
        sum.untimed += u64::from(!burst.timed && n > 0);
        for &(func, id, count) in &burst.paths {
            let path = self.counts.entry(func).or_default().entry(id).or_default();
            let one = InBursts::from_one_burst(count, n, times);
            *path = path.plus(one).ok_or(Overflow)?;
        }
        Ok(())
    }

    /// Adds those that waited for all others.
    pub(crate) fn count_untimed(&mut self) -> Result<(), Overflow> {
        for (burst, n) in std::mem::take(&mut self.untimed) {
            let native = self.paces.native_time(&burst, n);
            self.count(&burst, n, native)?;
        }
        Ok(())
    }

    /// The merged bursts with canonical ids of paths, of a program with so many functions. `canonical` translates the
    /// ids of one function, with a number for each, one to one.
    ///
    /// # Errors
    /// Those of `canonical`.
    pub(crate) fn finish(
        mut self,
        functions: usize,
        mut canonical: impl FnMut(FuncId, &BTreeMap<u64, u64>) -> Result<Vec<(PathId, u64)>>,
    ) -> Result<Bursts> {
        let mut bursts = std::mem::take(&mut self.sum);
        bursts.counts = ti_vec![Vec::new(); functions];
        for (f, counts) in self.counts {
            // Each gets its place for a number.
            let places = counts.keys().copied().zip(0u64..).collect();
            let said: Vec<InBursts> = counts.into_values().collect();
            let paths = canonical(f, &places)?.into_iter();
            let placed = paths.map(|(id, place)| (id, said[place as usize]));
            bursts.counts[f] = placed.collect();
        }
        Ok(bursts)
    }
}

/// Executed paths.
fn count_executed(burst: &Burst) -> Result<u64, Overflow> {
    let mut counts = burst.paths.iter().map(|p| p.2);
    counts.try_fold(0u64, u64::checked_add).ok_or(Overflow)
}

impl Bursts {
    /// Adds those of another profile of the same rewriting; `false` when counts overflow.
    #[must_use]
    pub fn add(&mut self, other: &Bursts) -> bool {
        let (mine, others) = (self.shadows, other.shadows);
        self.shadows = if self.number() == 0 {
            others.plus_counts(mine)
        } else if other.number() == 0 {
            mine.plus_counts(others)
        } else {
            mine.plus(others)
        };
        self.filtered += other.filtered;
        self.signal_taken += other.signal_taken;
        self.ended = tally(self.ended.iter().chain(&other.ended).copied());
        self.calls = tally(self.calls.iter().chain(&other.calls).copied());
        self.counting += other.counting;
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.nanoseconds = self.nanoseconds.saturating_add(other.nanoseconds);
        self.native = self.native.saturating_add(other.native);
        self.untimed += other.untimed;
        self.executions += other.executions;
        self.squares += other.squares;
        let Some(paths) = self.paths.checked_add(other.paths) else {
            return false;
        };
        self.paths = paths;
        for (to, from) in self.counts.iter_mut().zip(&other.counts) {
            let mut all: BTreeMap<PathId, InBursts> = to.iter().copied().collect();
            for &(id, path) in from {
                let sum = all.entry(id).or_default();
                match sum.plus(path) {
                    Some(plus) => *sum = plus,
                    None => return false,
                }
            }
            *to = all.into_iter().collect();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What counting took, what it takes the program, and how often two paths ran.
    fn burst(nanoseconds: u64, native: u64, counts: [u64; 2]) -> Burst {
        let of = |(id, count)| (FuncId(0), id, count);
        let paths = (0..).zip(counts).map(of).filter(|p| p.2 > 0);
        Burst {
            nanoseconds,
            native,
            timed: true,
            period: 1,
            paths: paths.collect(),
            ..Burst::default()
        }
    }

    /// One path is counted in three times the time that it takes, the other hardly slower. Bursts without a twin are
    /// given what their own paths take.
    #[test]
    fn untimed_bursts_are_as_those_with_the_same_paths() {
        let mut paces = Paces::default();
        let untimed = burst(1000, 700, [10, 0]);
        assert_eq!(paces.native_time(&untimed, 10), 700);
        for _ in 0..5 {
            paces.note_burst(&burst(3000, 1000, [100, 0]), 100);
            paces.note_burst(&burst(1100, 1000, [0, 20]), 20);
        }
        let native = |counts: [u64; 2]| {
            let all = counts.iter().sum();
            paces.native_time(&burst(6600, 1, counts), all)
        };
        assert_eq!(native([7, 0]), 2200);
        assert_eq!(native([0, 9]), 6000);
        assert_eq!(native([5, 5]), 4100);
        let other = Burst {
            paths: vec![(FuncId(1), 0, 3)],
            ..burst(4100, 1, [0, 0])
        };
        assert_eq!(paces.native_time(&other, 3), 2000);
        assert_eq!(paces.native_time(&burst(0, 1, [1, 0]), 1), 1);
    }

    /// It does not matter which bursts come first, and those without counts are as they say.
    #[test]
    fn untimed_bursts_wait_for_all() {
        let timed = burst(3000, 1000, [100, 0]);
        let untimed = Burst {
            timed: false,
            ..burst(600, 555, [10, 0])
        };
        let empty = Burst {
            timed: false,
            ..burst(50, 40, [0, 0])
        };
        let mut gathered = GatheredBursts::default();
        for burst in [&untimed, &empty, &timed] {
            gathered.add(std::slice::from_ref(burst), &[]).unwrap();
        }
        gathered.count_untimed().unwrap();
        let sum = &gathered.sum;
        assert_eq!((sum.native, sum.nanoseconds), (1000 + 40 + 200, 3650));
        assert_eq!((sum.counting, sum.untimed, sum.paths), (2, 1, 110));
        assert!((sum.executions - (0.1 + 10.0 / 200.0)).abs() < 1e-12);
        assert_eq!(gathered.counts[&FuncId(0)][&0].count, 110);
    }
}
