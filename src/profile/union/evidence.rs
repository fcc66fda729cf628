//! What a union knows of each path where programs counted only some: exactly how often it ran, at least how often,
//! or nothing.
//!
//! A count is exact if every program with the function counted the path. A path that ran in one program and was not
//! counted by another ran at least so often. A path that none has seen did not run if every program counted it; the
//! union stores the set of these paths, or a smaller one where edges cannot describe it, so that nothing unknown is
//! called unexecuted.

use super::UnionInProgress;
use super::news::OTHER_RUNS;
use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, FuncId, IdSet, PathId};
use crate::copies::selection::CountedPaths;
use crate::profile::manifest::{FunctionEntry, ShareEntry, encode_set};
use crate::profile::{Profile, Structure, TooManyPaths};
use std::collections::BTreeMap;

/// A program that counted some paths of a function.
pub(super) struct Partial {
    counted: CountedPaths,
    /// The paths of earlier profiles that it did not count.
    known: Vec<PathId>,
    /// How many paths it did not count.
    uncounted: u64,
    /// Its share and iterations, which describe what it counted.
    share: ShareEntry,
    apart: Vec<crate::base::index::BlockId>,
    /// Paths that it counted only in part itself.
    at_least: Vec<PathId>,
}

impl Partial {
    /// What `profile` counted of `f`; `None`: all.
    pub(super) fn read(profile: &Profile, f: FuncId) -> Result<Option<Partial>> {
        let entry = profile.entry(f);
        let structure = profile.structure(f)?;
        let counted = profile.counted_paths(f, &structure)?;
        if counted.are_all() && entry.at_least.is_empty() {
            return Ok(None);
        }
        let is_uncounted = |id: &&PathId| !counted.contain_id(&structure.paths, **id);
        Ok(Some(Partial {
            uncounted: structure.paths.numbering.total() - counted.number(&structure.paths),
            known: entry.known.iter().filter(is_uncounted).copied().collect(),
            counted,
            share: entry.share.clone(),
            apart: entry.apart.clone(),
            at_least: entry.at_least.clone(),
        }))
    }

    /// Whether each path that it did not count has been seen elsewhere, so that it counted all that are left: a
    /// residual run whose earlier profiles are here.
    fn completes_seen(&self, seen: &BTreeMap<PathId, u64>) -> bool {
        self.known.len() as u64 == self.uncounted
            && self.known.iter().all(|id| seen.contains_key(id))
    }
}

/// The evidence of all programs for one function.
#[derive(Default)]
pub(super) struct Evidence {
    partial: Vec<Partial>,
}

impl Evidence {
    /// Adds what a program counted; nothing if that is all.
    pub(super) fn add(&mut self, partial: Option<Partial>) {
        self.partial.extend(partial);
    }

    /// Writes into `entry` which of the `seen` paths ran at least as often as counted, and of which others it is
    /// known that they did not run. Whether anything is not known.
    pub(super) fn settle_counts(
        &self,
        entry: &mut FunctionEntry,
        seen: &BTreeMap<PathId, u64>,
    ) -> Result<bool, TooManyPaths> {
        if self.partial.is_empty() || entry.status.is_skipped() {
            return Ok(false);
        }
        let paths = Structure::new(entry)?.paths;
        let is_exact = |id: &PathId| {
            let exact = |p: &Partial| {
                p.counted.contain_id(&paths, *id) && p.at_least.binary_search(id).is_err()
            };
            self.partial.iter().all(exact)
        };
        entry.at_least = seen.keys().filter(|id| !is_exact(id)).copied().collect();
        let mut open = self.partial.iter().filter(|p| !p.completes_seen(seen));
        let open: Vec<&Partial> = open.by_ref().filter(|p| !p.counted.are_all()).collect();
        let sets: Vec<&IdSet<_>> = open
            .iter()
            .filter_map(|p| match &p.counted {
                CountedPaths::Inside(set) => Some(set),
                _ => None,
            })
            .collect();
        if let [only] = open[..]
            && let CountedPaths::Outside(_) = only.counted
        {
            entry.share = on_copy_0(&only.share);
            entry.apart.clone_from(&only.apart);
        } else if !open.is_empty() && sets.len() == open.len() {
            // A path inside each set is inside the edges that they have in common.
            let mut common = sets[0].clone();
            for set in &sets[1..] {
                let mut missing = IdSet::with_all(common.capacity());
                missing.difference_with(set);
                common.difference_with(&missing);
            }
            entry.share = if common.is_empty() {
                ShareEntry::Nothing
            } else {
                ShareEntry::Split(vec![(CopyId(0), encode_set(&common))])
            };
        } else if !open.is_empty() {
            // No set of edges says what these have in common; nothing is claimed of what has not been seen.
            entry.share = ShareEntry::Nothing;
        }
        Ok(!entry.at_least.is_empty() || !open.is_empty())
    }
}

impl UnionInProgress {
    /// Decides what is known of the paths that not every program counted.
    pub(super) fn settle_evidence(&mut self) -> Result<()> {
        let mut is_partial = false;
        for (entry, sum) in self.manifest.functions.iter_mut().zip(&self.functions) {
            let settled = sum.evidence.settle_counts(entry, &sum.counts);
            is_partial |= settled.map_err(|problem| {
                Error::Usage(format!(
                    "{}: {problem}; merge the raw profiles again",
                    entry.name
                ))
            })?;
            if self.is_residual {
                entry.known = sum.news.paths_known_everywhere();
            }
        }
        let specs = &mut self.manifest.paths;
        if !is_partial {
            // Only what was known is still of interest.
            specs.retain(|spec| self.is_residual && spec.starts_with("new:"));
        } else if !self.is_residual && specs.iter().any(|spec| spec.starts_with("new:")) {
            specs.retain(|spec| spec != OTHER_RUNS);
            specs.push(OTHER_RUNS.to_string());
        }
        Ok(())
    }
}

/// A share of several copies as that of the one copy of a union, which counts what any of them did.
fn on_copy_0(share: &ShareEntry) -> ShareEntry {
    match share {
        ShareEntry::Outside(_, set) => ShareEntry::Outside(CopyId(0), set.clone()),
        ShareEntry::Ranges(ranges) => ShareEntry::Ranges(ranges.on_one_copy(CopyId(0))),
        other => other.clone(),
    }
}
