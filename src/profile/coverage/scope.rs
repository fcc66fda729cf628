//! Which functions a coverage report is about, and in which order.

use super::patch::Touched;
use super::{FunctionCoverage, file};
use crate::index::FuncId;
use crate::profile::Profile;
use crate::source::is_of_the_system;
use regex::Regex;
use std::cmp::Reverse;

/// The files whose functions are counted.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Only files that match.
    pub file: Option<Regex>,
    /// Not files that match.
    pub exclude: Option<Regex>,
    /// Files of the system and of toolchains, too.
    pub all: bool,
    /// Only paths through lines that a patch touched.
    pub touched: Option<Touched>,
}

impl Scope {
    /// Whether function `f` begins in one of those, and has code of a touched line.
    pub fn admits(&self, profile: &Profile, f: FuncId) -> bool {
        let name = file(profile, f);
        (self.all || !is_of_the_system(&name))
            && self.file.as_ref().is_none_or(|re| re.is_match(&name))
            && !self.exclude.as_ref().is_some_and(|re| re.is_match(&name))
            && self
                .touched
                .as_ref()
                .is_none_or(|t| !t.blocks(profile, f).is_empty())
    }
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Those with most paths that did not run
    #[default]
    Missing,
    /// Those of which the smallest share ran
    Share,
    /// By name
    Name,
    /// By the file that they begin in, and the line
    File,
}

impl Sort {
    /// Sorts rows; equal ones stay as they are.
    pub(super) fn sort(self, profile: &Profile, rows: &mut [FunctionCoverage]) {
        match self {
            Sort::Missing => {
                rows.sort_by_key(|r| Reverse(r.paths.feasible.saturating_sub(r.paths.executed)));
            }
            Sort::Share => rows.sort_by(|a, b| a.paths.share().total_cmp(&b.paths.share())),
            Sort::Name => rows.sort_by_cached_key(|r| profile.name(r.f)),
            Sort::File => rows.sort_by_cached_key(|r| {
                let line = profile.entry(r.f).loc.map(|l| l.line);
                (file(profile, r.f), line)
            }),
        }
    }
}
