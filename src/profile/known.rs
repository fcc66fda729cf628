//! Of which paths of a function it is known how often they ran.

use super::left::Range;
use super::union::is_residual;
use super::{Profile, Structure};
use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::copies::selection::CountedPaths;

/// The paths of a function that were counted.
pub(crate) struct KnownPaths<'a> {
    /// `None` where that is all of them.
    counted: Option<(CountedPaths, Structure)>,
    /// Those of them that not every run counted; ascending.
    at_least: &'a [PathId],
}

impl<'a> KnownPaths<'a> {
    /// Those of `f`. Linear where a profile counts some paths only.
    ///
    /// # Errors
    /// A damaged profile.
    pub(crate) fn new(profile: &'a Profile, f: FuncId) -> Result<KnownPaths<'a>> {
        let mut known = KnownPaths {
            counted: None,
            at_least: &profile.entry(f).at_least,
        };
        if profile.is_selective() && !profile.entry(f).status.is_skipped() {
            let structure = profile.structure(f)?;
            let counted = profile.counted_paths(f, &structure)?;
            known.counted = (!counted.are_all()).then_some((counted, structure));
        }
        Ok(known)
    }

    /// Whether a path that has no count is known not to have run.
    pub(crate) fn is_counted(&self, id: PathId) -> bool {
        let counted = self.counted.as_ref();
        counted.is_none_or(|(counted, s)| counted.contain_id(&s.paths, id))
    }

    /// How often a path ran that has this count (0: none).
    pub(crate) fn range(&self, id: PathId, count: u64) -> Range {
        let is_exact = self.at_least.binary_search(&id).is_err() && self.is_counted(id);
        if is_exact {
            Range::exact(count)
        } else {
            Range::at_least(count)
        }
    }
}

/// What became of the paths that earlier runs have seen, in a run against these (`new:`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct KnownAgain {
    /// Those that were counted again, since no set of edges leaves them out without others, and ran.
    pub ran: u64,
    /// Those that were counted again and did not run.
    pub did_not_run: u64,
    /// All others: nothing is known of this run.
    pub not_selected: u64,
}

impl KnownAgain {
    /// How many there are.
    pub fn total(self) -> u64 {
        self.ran + self.did_not_run + self.not_selected
    }

    fn plus(self, other: KnownAgain) -> KnownAgain {
        KnownAgain {
            ran: self.ran + other.ran,
            did_not_run: self.did_not_run + other.did_not_run,
            not_selected: self.not_selected + other.not_selected,
        }
    }
}

impl Profile {
    /// Whether an earlier run has seen this path, in a profile of a run against earlier ones (`new:`).
    pub fn is_known(&self, f: FuncId, id: PathId) -> bool {
        self.entry(f).known.binary_search(&id).is_ok()
    }

    /// What became of the known paths of function `f`; `None` if no run was made against earlier ones. O(known paths ·
    /// length).
    pub fn known_again(&self, f: FuncId) -> Option<KnownAgain> {
        if !is_residual(&self.manifest) || self.entry(f).status.is_skipped() {
            return None;
        }
        let paths = KnownPaths::new(self, f).ok()?;
        let counts = self.paths().ok()?.counts(f);
        let mut again = KnownAgain::default();
        for id in &self.entry(f).known {
            let has_run = counts.binary_search_by_key(id, |c| c.0).is_ok();
            let number = match (has_run, paths.is_counted(*id)) {
                (true, _) => &mut again.ran,
                (false, true) => &mut again.did_not_run,
                (false, false) => &mut again.not_selected,
            };
            *number += 1;
        }
        Some(again)
    }

    /// What became of the known paths of all functions together; `None` if the run knew none.
    pub(super) fn all_known_again(&self) -> Option<KnownAgain> {
        let each = self.functions().filter_map(|f| self.known_again(f));
        each.reduce(KnownAgain::plus)
    }

    /// Whether some path may have run oftener than was counted: it was not selected, or not in every run that was
    /// joined. Linear where paths were selected.
    pub fn is_partial(&self) -> bool {
        let is_partial = |f: FuncId| {
            let known = KnownPaths::new(self, f);
            known.is_ok_and(|k| k.counted.is_some() || !k.at_least.is_empty())
        };
        self.is_selective() && self.functions().any(is_partial)
    }
}
