//! What the copies counted, each under its own ids → counts of canonical paths, and where copies contradict
//! each other.

use super::decode::{CountProblem, decode_edges, decode_paths};
use super::measurement::{Exact, Measurement};
use super::verdict::Violation;
use super::{Profile, Structure};
use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, EdgeId, FuncId, PathId};
use crate::copies::partition::{Owners, Share};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// By function: the ids that one copy counted, over all its processes.
pub type LocalCounts = BTreeMap<FuncId, BTreeMap<u64, u64>>;

/// Fills in what `profile` measured, whose processes are known; returns the paths about which copies that can be
/// compared disagree. O(total path length).
///
/// # Errors
/// Ids that belong to no path or edge.
pub fn combine(
    profile: &mut Profile,
    by_copy: &BTreeMap<CopyId, LocalCounts>,
) -> Result<Vec<Violation>> {
    match profile.measured {
        Measurement::Exact(Exact::Paths(_)) => {
            let combined = combine_each(profile, by_copy, combine_paths)?;
            let (counts, violations): (Vec<_>, Vec<_>) = combined.into_iter().unzip();
            profile.measured = Measurement::Exact(Exact::Paths(counts.into()));
            Ok(violations.into_iter().flatten().collect())
        }
        Measurement::Exact(Exact::Edges(_)) => {
            profile.measured = Measurement::Exact(Exact::Edges(
                combine_each(profile, by_copy, combine_edges)?.into(),
            ));
            Ok(Vec::new())
        }
        // Samples are no counts: the merge adds them up itself.
        Measurement::Estimated(_) => Ok(Vec::new()),
    }
}

/// What copies counted of one function, each under its own ids.
type ByCopy<'a> = [(CopyId, &'a BTreeMap<u64, u64>)];

/// Combines the counts of every function, those of functions that never ran to the default; in parallel.
fn combine_each<T: Default + Send>(
    profile: &Profile,
    by_copy: &BTreeMap<CopyId, LocalCounts>,
    combine: impl Fn(&Profile, FuncId, &ByCopy) -> Result<T, CountProblem> + Sync,
) -> Result<Vec<T>> {
    let functions: Vec<FuncId> = profile.functions().collect();
    let combined = functions.into_par_iter().map(|f| {
        let of_f = by_copy
            .iter()
            .filter_map(|(c, counted)| Some((*c, counted.get(&f)?)));
        let counts: Vec<_> = of_f.filter(|(_, ids)| !ids.is_empty()).collect();
        if counts.is_empty() {
            return Ok(T::default());
        }
        combine(profile, f, &counts).map_err(|problem| {
            let problem = format!("{}: {problem}", profile.name(f));
            Error::profile(&profile.path, problem, "run the copies again")
        })
    });
    combined.collect()
}

fn combine_edges(
    profile: &Profile,
    f: FuncId,
    counts: &ByCopy,
) -> Result<Vec<(EdgeId, u64)>, CountProblem> {
    let entry = profile.entry(f);
    let Structure { cfg, paths } = Structure::new(entry)?;
    let counted = entry.counted_edges(paths.dag.edges().len())?;
    let share = entry.share(&cfg, &paths)?;
    let mut combined = BTreeMap::new();
    for (copy, ids) in counts {
        combined.extend(decode_edges(&counted, &share, *copy, ids)?);
    }
    Ok(combined.into_iter().collect())
}

/// What is known of a function's paths, and where copies contradict each other.
type Combined = (Vec<(PathId, u64)>, Option<Violation>);

fn combine_paths(profile: &Profile, f: FuncId, counts: &ByCopy) -> Result<Combined, CountProblem> {
    let entry = profile.entry(f);
    let structure = Structure::new(entry)?;
    let share = entry.share(&structure.cfg, &structure.paths)?;
    let mut said: BTreeMap<CopyId, BTreeMap<PathId, u64>> = BTreeMap::new();
    for &(copy, ids) in counts {
        said.insert(copy, decode_paths(&structure, &share, copy, ids)?);
    }
    let (merged, violation) = if let Share::Whole(copy) | Share::Outside(copy, _) = share {
        (said.remove(&copy).unwrap_or_default(), None)
    } else {
        let (merged, differences) = take_counts_of_owners(profile, &structure, &share, &said)?;
        (merged, differences.violation(f))
    };
    Ok((merged.into_iter().collect(), violation))
}

/// The paths of one function that copies counted differently.
#[derive(Default)]
struct Differences {
    paths: usize,
    off: u64,
    /// The path on which they differ most, the first of several, and by how much.
    most: Option<(u64, String)>,
}

impl Differences {
    /// Adds what copies say about path `id`, if they differ; the first one's count is taken.
    fn add(&mut self, id: PathId, counts: &[(CopyId, u64)]) {
        let (owner, count) = counts[0];
        let Some(&(copy, other)) = counts.iter().max_by_key(|(_, n)| n.abs_diff(count)) else {
            return;
        };
        let off = count.abs_diff(other);
        if off == 0 {
            return;
        }
        self.paths += 1;
        self.off = self.off.saturating_add(off);
        if self.most.as_ref().is_none_or(|(most, _)| off > *most) {
            let what = format!("path {id}: copy {owner} counted {count}, copy {copy} {other}");
            self.most = Some((off, what));
        }
    }

    fn violation(self, function: FuncId) -> Option<Violation> {
        let (_, mut what) = self.most?;
        if self.paths > 1 {
            what += &format!(" ({} such paths)", self.paths);
        }
        let off = self.off;
        Some(Violation {
            function,
            off,
            what,
        })
    }
}

/// Takes every path's count from its owner (the first copy that counts it and has run) and
/// compares what the other copies that count it say, where they can be compared.
fn take_counts_of_owners(
    profile: &Profile,
    structure: &Structure,
    share: &Share,
    said: &BTreeMap<CopyId, BTreeMap<PathId, u64>>,
) -> Result<(BTreeMap<PathId, u64>, Differences), CountProblem> {
    let (mut merged, mut differences) = (BTreeMap::new(), Differences::default());
    let owners = Owners(share);
    let ids: BTreeSet<PathId> = said.values().flat_map(|ids| ids.keys().copied()).collect();
    for id in ids {
        let edges = structure.paths.decode(id).ok_or(CountProblem::NoSuchPath)?;
        let copies = owners.copies_counting(id, &edges);
        let counts = copies.filter_map(|c| Some((c, said.get(&c)?.get(&id).copied().unwrap_or(0))));
        let mut counts: Vec<(CopyId, u64)> = counts.collect();
        let (_, count) = *counts.first().ok_or(CountProblem::NoOwner)?;
        if count != 0 {
            merged.insert(id, count);
        }
        counts.retain(|(c, _)| profile.are_comparable(&[*c]));
        if !counts.is_empty() {
            differences.add(id, &counts);
        }
    }
    Ok((merged, differences))
}

#[cfg(test)]
mod tests;
