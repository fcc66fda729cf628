//! Bursts of many processes and runs → what all of them say.

use super::{Bursts, InBursts, tally};
use crate::error::{Error, Result};
use crate::index::{CopyId, FuncId, PathId, ti_vec};
use crate::profile::decode::decode_paths;
use crate::profile::raw::Raw;
use crate::profile::{Profile, Structure};
use std::collections::BTreeMap;

/// What was read so far of one copy's bursts, by the ids that the copy counts under.
#[derive(Default)]
pub struct Gathered {
    /// All but the counts.
    sum: Bursts,
    counts: BTreeMap<FuncId, BTreeMap<u64, InBursts>>,
    /// Whether a process was added.
    any: bool,
}

impl Gathered {
    /// Adds what one raw profile holds; an error when counts overflow. O(paths).
    pub fn add(&mut self, raw: &Raw) -> Result<(), String> {
        let sum = &mut self.sum;
        for shadows in &raw.shadows {
            if std::mem::replace(&mut self.any, true) {
                sum.ask_alike(shadows.burst, shadows.load, shadows.cost);
            } else {
                (sum.length, sum.load, sum.cost) = (shadows.burst, shadows.load, shadows.cost);
            }
            sum.started += shadows.started;
            sum.not_written += shadows.not_written;
            sum.not_forked += shadows.not_forked;
            sum.busy += shadows.busy;
            sum.short_of_memory += shadows.short_of_memory;
            sum.spent = sum.spent.saturating_add(shadows.spent);
            sum.time = sum.time.saturating_add(shadows.time);
            sum.lived = sum.lived.saturating_add(shadows.lived);
        }
        for burst in &raw.bursts {
            let ended = [(burst.why, burst.detail, 1)];
            sum.ended = tally(std::mem::take(&mut sum.ended).into_iter().chain(ended));
            let calls = burst.calls.iter().copied();
            sum.calls = tally(std::mem::take(&mut sum.calls).into_iter().chain(calls));
            let overflow = || "damaged: a count overflows".to_string();
            let n = burst
                .paths
                .iter()
                .try_fold(0u64, |n, p| n.checked_add(p.2))
                .ok_or_else(overflow)?;
            sum.counting += u64::from(n > 0);
            sum.paths = sum.paths.checked_add(n).ok_or_else(overflow)?;
            let times = burst.period as f64 / burst.native as f64;
            let all = n as f64 * times;
            sum.executions += all;
            sum.squares += all * all;
            sum.instructions = sum.instructions.saturating_add(burst.instructions);
            sum.nanoseconds = sum.nanoseconds.saturating_add(burst.nanoseconds);
            sum.native = sum.native.saturating_add(burst.native);
            sum.untimed += u64::from(!burst.timed && n > 0);
            for &(func, id, count) in &burst.paths {
                let path = self.counts.entry(func).or_default().entry(id).or_default();
                let one = InBursts::one(count, n, times);
                *path = path.plus(one).ok_or_else(overflow)?;
            }
        }
        Ok(())
    }

    /// The same by canonical ids, for `profile`, whose copy `copy` counted it.
    ///
    /// # Errors
    /// Ids that no path has.
    pub fn finish(mut self, profile: &Profile, copy: CopyId) -> Result<Bursts> {
        let mut bursts = std::mem::take(&mut self.sum);
        bursts.counts = ti_vec![Vec::new(); profile.manifest.functions.len()];
        for (f, counts) in self.counts {
            bursts.counts[f] = canonical(profile, f, copy, &counts).map_err(|problem| {
                let problem = format!("{}: {problem}", profile.name(f));
                Error::profile(&profile.path, problem, "run the program again")
            })?;
        }
        Ok(bursts)
    }
}

/// Ids are translated one to one, so each is given its place in `counts` for a count.
fn canonical(
    profile: &Profile,
    f: FuncId,
    copy: CopyId,
    counts: &BTreeMap<u64, InBursts>,
) -> Result<Vec<(PathId, InBursts)>, String> {
    let entry = profile.entry(f);
    let structure = Structure::new(entry)?;
    let share = entry.share(&structure.paths)?;
    let places = counts.keys().copied().zip(0u64..).collect();
    let said: Vec<InBursts> = counts.values().copied().collect();
    let paths = decode_paths(&structure, &share, copy, &places)?;
    let of = |(id, place): (PathId, u64)| (id, said[place as usize]);
    Ok(paths.into_iter().map(of).collect())
}

impl Bursts {
    /// What was asked for, where others were asked for that.
    fn ask_alike(&mut self, length: u64, load: u64, cost: u64) {
        let alike = |mine: &mut u64, other: u64| *mine = if *mine == other { other } else { 0 };
        alike(&mut self.length, length);
        alike(&mut self.load, load);
        alike(&mut self.cost, cost);
    }

    /// Adds those of another profile of the same rewriting; `false` when counts overflow.
    #[must_use]
    pub fn add(&mut self, other: &Bursts) -> bool {
        if self.number() == 0 {
            (self.length, self.load, self.cost) = (other.length, other.load, other.cost);
        } else if other.number() > 0 {
            self.ask_alike(other.length, other.load, other.cost);
        }
        self.spent = self.spent.saturating_add(other.spent);
        self.time = self.time.saturating_add(other.time);
        self.lived = self.lived.saturating_add(other.lived);
        self.started += other.started;
        self.not_written += other.not_written;
        self.not_forked += other.not_forked;
        self.busy += other.busy;
        self.short_of_memory += other.short_of_memory;
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
