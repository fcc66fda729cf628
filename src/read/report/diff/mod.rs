//! `p3-prof diff`: what changed from one profile to another, of another run or another build.
//!
//! A path is the same in both when its function has the same name and control flow, and it the same blocks. Where
//! control flow changed nothing can be compared, and the function is named.

mod render;
#[cfg(test)]
mod tests;

pub use render::{csv, json, text};

use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::known::KnownPaths;
use crate::profile::matching::{Build, Index, Known, Match};
use crate::profile::measurement::PathProfile;
use crate::read::report::{Line, lines};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// How often a path ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Frequency {
    /// How often.
    pub count: u64,
    /// Its share of all executed paths of its profile.
    pub share: f64,
}

/// A path of one or both profiles.
pub struct Change {
    /// It, as it is in the later profile, or in the earlier one if it vanished.
    pub line: Line,
    /// In the earlier profile; nothing if it appeared.
    pub before: Option<Frequency>,
    /// In the later profile; nothing if it vanished.
    pub after: Option<Frequency>,
}

impl Change {
    /// By how much its share changed.
    fn change(&self) -> f64 {
        let share = |f: Option<Frequency>| f.map_or(0.0, |f| f.share);
        share(self.after) - share(self.before)
    }
}

/// What changed.
pub struct Diff<'a> {
    before: &'a Profile,
    pub(super) after: &'a Profile,
    /// How many paths shares are of, earlier and later.
    pub totals: [u128; 2],
    /// Paths that ran only later, by descending share.
    pub appeared: Vec<Change>,
    /// Paths that ran only earlier, likewise.
    pub vanished: Vec<Change>,
    /// Paths of both whose count changed, and their share by at least what was asked for, the largest changes first.
    pub changed: Vec<Change>,
    /// How many paths of both did not.
    pub steady: usize,
    /// How many of these have other counts, though the change of their share is below `least`.
    near: usize,
    /// By how much a share changes at least, of one, for a path to be listed.
    least: f64,
    /// How many ran in one and were not counted in the other, so that it is not known whether they ran there.
    pub unselected: usize,
    /// How many ran in both, oftener perhaps than a profile has counted, so that their shares cannot be compared.
    pub bounded: usize,
    /// Functions whose paths cannot be compared: of other control flow.
    pub incomparable: Vec<String>,
    /// Functions that only the earlier one profiled.
    pub only_before: Vec<String>,
    /// Functions that only the later one profiled.
    pub only_after: Vec<String>,
    /// How many functions have a name that both profiles have, and how many there are in either, if the programs are so
    /// different that hardly anything can be compared.
    pub unrelated: Option<[usize; 2]>,
}

impl Diff<'_> {
    /// How many paths ran in both profiles.
    pub fn count_in_both(&self) -> usize {
        self.steady + self.bounded + self.changed.len()
    }

    /// Whether there is anything to tell.
    pub fn has_differences(&self) -> bool {
        let paths = self.appeared.len() + self.vanished.len() + self.changed.len();
        let functions = self.incomparable.len() + self.only_before.len() + self.only_after.len();
        paths + functions > 0
    }
}

/// What changed from `before` to `after` in the selected functions; of paths that both have, only changed
/// counts whose share changed by at least `least` (1 is everything). O(functions + total path length of what changed).
///
/// # Errors
/// Damaged profiles.
pub fn diff<'a>(
    before: PathProfile<'a>,
    after: PathProfile<'a>,
    selection: &Selection,
    least: f64,
) -> Result<Diff<'a>> {
    let (earlier, later) = (
        selection.profiled_functions(&before),
        selection.profiled_functions(&after),
    );
    let matched = match_functions(&before, &earlier, &after, &later);
    // Functions that somebody chose say nothing of the programs.
    let chosen = selection.function.is_some();
    let unrelated = matched.count_if_unrelated().filter(|_| !chosen);
    let diff = compare([before, after], matched, least, 0)?;
    Ok(Diff { unrelated, ..diff })
}

/// What changed from the first profile to the second in functions that were matched. Paths that only the first
/// one has are described by profile number `vanished_by`. O(blocks + total path length of what changed).
///
/// # Errors
/// Damaged profiles.
pub(super) fn compare<'a>(
    profiles: [PathProfile<'a>; 2],
    matched: Matched,
    least: f64,
    vanished_by: usize,
) -> Result<Diff<'a>> {
    let [before, after] = profiles;
    let names = |p: &Profile, of: &[FuncId]| of.iter().map(|f| p.name(*f)).collect();
    let mut diff = Diff {
        before: before.profile(),
        after: after.profile(),
        totals: totals(profiles, &matched.pairs)?,
        appeared: Vec::new(),
        vanished: Vec::new(),
        changed: Vec::new(),
        steady: 0,
        near: 0,
        least,
        unselected: 0,
        bounded: 0,
        incomparable: names(&after, &matched.changed),
        only_before: names(&before, &matched.only_before),
        only_after: names(&after, &matched.only_after),
        unrelated: None,
    };
    let totals = diff.totals.map(|sum| sum.max(1) as f64);
    let (mut gone, mut here) = (Vec::new(), Vec::new());
    for pair in matched.pairs {
        let counted = known_paths(profiles, pair)?;
        for found in join_paths(profiles, pair, totals) {
            let sides = [found.before, found.after].map(|f| f.map_or(0, |f| f.count));
            let ranges = [0, 1].map(|side: usize| counted[side].range(found.id, sides[side]));
            if ranges.iter().any(|r| r.may_have_run()) {
                diff.unselected += 1;
                continue;
            }
            if ranges.iter().any(|r| !r.is_exact()) && sides.iter().all(|n| *n > 0) {
                diff.bounded += 1;
                continue;
            }
            match (found.before, found.after) {
                (Some(was), Some(is)) if is_steady(was, is, least) => {
                    diff.steady += 1;
                    diff.near += usize::from(was.count != is.count);
                }
                (_, Some(_)) => here.push(found),
                _ => gone.push(found),
            }
        }
    }
    for (number, found) in [(vanished_by, gone), (1, here)] {
        diff.describe(&profiles[number], number, found)?;
    }
    for changes in [&mut diff.appeared, &mut diff.vanished, &mut diff.changed] {
        changes.sort_by(|a, b| b.change().abs().total_cmp(&a.change().abs()));
    }
    Ok(diff)
}

/// A path of a function that both profiles have.
struct InEither {
    /// In the earlier profile, and in the later one.
    pair: (FuncId, FuncId),
    id: PathId,
    before: Option<Frequency>,
    after: Option<Frequency>,
}

/// A path that ran as often as before is no news, even if others ran less.
fn is_steady(was: Frequency, is: Frequency, least: f64) -> bool {
    let change = (is.share - was.share).abs();
    was.count == is.count || change < least
}

/// The paths of one function in either profile, by id.
fn join_paths(
    profiles: [PathProfile; 2],
    pair: (FuncId, FuncId),
    totals: [f64; 2],
) -> Vec<InEither> {
    let counts = |side: usize, f: FuncId| {
        let counts = profiles[side].counts(f).iter();
        counts.map(move |&(id, count)| {
            let share = count as f64 / totals[side];
            (id, Frequency { count, share })
        })
    };
    let mut found: BTreeMap<PathId, InEither> = BTreeMap::new();
    for (id, frequency) in counts(0, pair.0) {
        let path = InEither {
            pair,
            id,
            before: Some(frequency),
            after: None,
        };
        found.insert(id, path);
    }
    for (id, frequency) in counts(1, pair.1) {
        let path = found.entry(id).or_insert(InEither {
            pair,
            id,
            before: None,
            after: None,
        });
        path.after = Some(frequency);
    }
    found.into_values().collect()
}

impl Diff<'_> {
    /// Adds what was found, described by `profile`, whose number is 0 if it is the earlier one.
    fn describe(&mut self, profile: &Profile, number: usize, found: Vec<InEither>) -> Result<()> {
        let func = |f: &InEither| [f.pair.0, f.pair.1][number];
        let count = |f: &InEither| f.after.or(f.before).map_or(0, |x| x.count);
        let wanted: Vec<_> = found.iter().map(|f| (func(f), f.id, count(f))).collect();
        for (line, found) in lines(profile, &wanted)?.into_iter().zip(found) {
            let changes = match (found.before, found.after) {
                (None, _) => &mut self.appeared,
                (_, None) => &mut self.vanished,
                _ => &mut self.changed,
            };
            changes.push(Change {
                line,
                before: found.before,
                after: found.after,
            });
        }
        Ok(())
    }
}

/// The paths of a function that either profile counted.
fn known_paths<'a>(
    profiles: [PathProfile<'a>; 2],
    pair: (FuncId, FuncId),
) -> Result<[KnownPaths<'a>; 2]> {
    let [before, after] = profiles;
    Ok([
        KnownPaths::new(before.profile(), pair.0)?,
        KnownPaths::new(after.profile(), pair.1)?,
    ])
}

/// What shares are of: all executed paths; where a profile counts some paths only, those that both counted, as far as
/// they match.
fn totals(profiles: [PathProfile; 2], pairs: &[(FuncId, FuncId)]) -> Result<[u128; 2]> {
    let mut sums = [0u128; 2];
    if profiles.iter().all(|p| !p.is_selective()) {
        for (sum, profile) in sums.iter_mut().zip(profiles) {
            *sum = profile.all_counts().map(|(_, n)| u128::from(n)).sum();
        }
    } else {
        for &pair in pairs {
            let counted = known_paths(profiles, pair)?;
            for ((sum, profile), f) in sums.iter_mut().zip(profiles).zip([pair.0, pair.1]) {
                let both = |id: &PathId| counted.iter().all(|c| c.is_counted(*id));
                let shared = profile.counts(f).iter().filter(|(id, _)| both(id));
                *sum += shared.map(|(_, n)| u128::from(*n)).sum::<u128>();
            }
        }
    }
    Ok(sums)
}

/// The functions of two profiles, of one build or two.
pub struct Matched {
    /// Of the same name and control flow, so that path ids mean the same paths: of the earlier profile, of the later.
    pub pairs: Vec<(FuncId, FuncId)>,
    /// Of the later profile, where the earlier has other control flow.
    pub changed: Vec<FuncId>,
    /// Of the earlier profile alone.
    pub only_before: Vec<FuncId>,
    /// Of the later profile alone.
    pub only_after: Vec<FuncId>,
}

impl Matched {
    /// How many functions both programs have, and how many either, if both have fewer than half of those of the smaller
    /// program: a part of a program, and a later build, has more.
    fn count_if_unrelated(&self) -> Option<[usize; 2]> {
        let both = self.pairs.len() + self.changed.len();
        let alone = [self.only_before.len(), self.only_after.len()];
        let smaller = both + alone[0].min(alone[1]);
        (2 * both < smaller).then_some([both, both + alone[0] + alone[1]])
    }
}

/// Matches functions of `before`, those of `earlier`, with those of `after`, those of `later`: each with one at most.
/// O(blocks).
pub fn match_functions(
    before: &Profile,
    earlier: &[FuncId],
    after: &Profile,
    later: &[FuncId],
) -> Matched {
    let index = Index::of_same_program(before, &Build::of_manifest(&after.manifest));
    let mut known = HashSet::new();
    let mut matched = Matched {
        pairs: Vec::new(),
        changed: Vec::new(),
        only_before: Vec::new(),
        only_after: Vec::new(),
    };
    for (&g, found) in later.iter().zip(index.match_each(after, later)) {
        match found {
            Match::Same(f) if before.entry(f).cuts == after.entry(g).cuts => {
                known.insert(f);
                matched.pairs.push((f, g));
            }
            Match::Same(_) | Match::Changed => matched.changed.push(g),
            Match::Unknown => matched.only_after.push(g),
        }
    }
    let index = Index::of_same_program(after, &Build::of_manifest(&before.manifest));
    let unpaired = earlier.iter().copied().filter(|f| !known.contains(f));
    for f in unpaired {
        let cfg = before.entry(f).cfg();
        match index.find(&Known::new(&before.manifest, f, &cfg)) {
            // Of several that were alike one is left.
            Match::Same(g) if before.entry(f).cuts == after.entry(g).cuts => {
                matched.only_before.push(f);
            }
            Match::Unknown => matched.only_before.push(f),
            Match::Same(_) | Match::Changed => {}
        }
    }
    matched
}
