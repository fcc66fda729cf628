//! What was measured: the evidence that everything else in a profile follows from.

use super::{Profile, Ran, Structure};
use crate::base::error::{Error, Result};
use crate::base::index::{EdgeId, FuncId, PathId, TiVec, ti_vec};
use crate::copies::strategy::Measure;
use crate::estimates::data::Estimated;
use std::ops::Deref;

/// By function: what ran and how often (never zero), by ascending id. Counted, not estimated.
pub type ExactCounts<Id> = TiVec<FuncId, Vec<(Id, u64)>>;

/// What a profile holds: one kind of thing in all functions, as its scheme says.
///
/// Exactness is a property of the variant, not of each number: all numbers of a profile are taken in one way. Nothing
/// can then take an estimate for a count: paths are read through [`PathProfile`], which is made of [`ExactCounts`]
/// alone, and whatever else reads counts matches on this type and does not compile before it says what it makes of an
/// estimate.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one of it for each profile"
)]
pub enum Measurement {
    /// Counts.
    Exact(Exact),
    /// What a sample says of counts: each kind has a type of its own in place of [`ExactCounts`].
    Estimated(Estimated),
}

/// Counts, for completed paths and for counted edges; how exact what follows from them is, [`super::left::Range`]
/// tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Exact {
    /// Paths, by canonical id.
    Paths(ExactCounts<PathId>),
    /// Those edges of the DAG that have counters ([`Profile::counted_edges`]).
    Edges(ExactCounts<EdgeId>),
}

impl Measurement {
    /// Of so many functions, before anything has run.
    #[cfg_attr(
        not(feature = "estimates"),
        allow(unreachable_code, reason = "estimates have no values")
    )]
    pub fn empty(measure: Measure, functions: usize) -> Measurement {
        match measure {
            Measure::Paths => Measurement::Exact(Exact::Paths(ti_vec![Vec::new(); functions])),
            Measure::Edges => Measurement::Exact(Exact::Edges(ti_vec![Vec::new(); functions])),
            Measure::Estimated(kind) => Measurement::Estimated(Estimated::empty(kind, functions)),
        }
    }

    /// Of how many paths or edges of function `f` it is known that they ran; subpaths are of no one function.
    pub fn count_known_to_run(&self, f: FuncId) -> usize {
        match self {
            Measurement::Exact(Exact::Paths(counts)) => counts[f].len(),
            Measurement::Exact(Exact::Edges(counts)) => counts[f].len(),
            Measurement::Estimated(estimated) => estimated.count_distinct(f),
        }
    }
}

/// A profile of exact counts of paths: for what does not follow from counts of edges. Made by [`Profile::paths`].
#[derive(Clone, Copy)]
pub struct PathProfile<'a> {
    profile: &'a Profile,
    counts: &'a ExactCounts<PathId>,
}

impl Profile {
    /// The profile as one of paths.
    ///
    /// # Errors
    /// A profile of edges, or of a sample.
    pub fn paths(&self) -> Result<PathProfile<'_>> {
        match &self.measured {
            Measurement::Exact(Exact::Paths(counts)) => Ok(PathProfile {
                profile: self,
                counts,
            }),
            Measurement::Exact(Exact::Edges(_)) => Err(Error::profile(
                &self.path,
                "it counts edges, not paths",
                "use show --edges or export --format lcov, or profile paths",
            )),
            Measurement::Estimated(_) => Err(self.only_estimates()),
        }
    }

    /// Whether it holds exact counts, of paths or of edges.
    ///
    /// # Errors
    /// A profile of estimates.
    pub fn require_exact(&self) -> Result<()> {
        match self.measured {
            Measurement::Exact(_) => Ok(()),
            Measurement::Estimated(_) => Err(self.only_estimates()),
        }
    }

    /// The error for a profile that is no sample of subpaths, where one is needed.
    pub(crate) fn no_sample(&self) -> Error {
        Error::profile(
            &self.path,
            "it holds no sampled subpaths",
            "show it without --longest",
        )
    }

    /// The error for a profile of estimates, which are listed one by one, where they would have to be added up by
    /// `what`: intervals of sums are not known.
    pub(crate) fn adds_no_estimates(&self, what: &str) -> Error {
        Error::profile(
            &self.path,
            format!("it holds estimates, which are not added up by {what}"),
            "leave --by out, or profile with a scheme that counts paths",
        )
    }

    /// The error for a profile without bursts, where some are needed.
    pub(crate) fn no_bursts(&self) -> Error {
        Error::profile(
            &self.path,
            "it holds no bursts of shadows",
            "profile with p3-rewrite --scheme shadow",
        )
    }

    /// The error for a profile of estimates, where exact counts are needed.
    pub fn only_estimates(&self) -> Error {
        Error::profile(
            &self.path,
            "it holds estimates of a sample, and this needs exact counts",
            "see it with p3-prof show, or profile by another scheme",
        )
    }
}

impl Deref for PathProfile<'_> {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        self.profile
    }
}

impl<'a> PathProfile<'a> {
    /// The profile, for as long as it lives.
    pub fn profile(self) -> &'a Profile {
        self.profile
    }

    /// The paths of function `f` that ran: canonical ids, ascending, and counts.
    pub fn counts(self, f: FuncId) -> &'a [(PathId, u64)] {
        &self.counts[f]
    }

    /// The paths of all functions that ran, with their counts.
    pub fn all_counts(self) -> impl Iterator<Item = (PathId, u64)> + 'a {
        self.counts.iter().flatten().copied()
    }

    /// The paths of function `f` that ran, with their edges. O(total path length).
    ///
    /// # Errors
    /// Ids that no path has.
    pub fn executed_paths(self, f: FuncId, structure: &Structure) -> Result<Vec<Ran>> {
        let ran = |&(id, count): &(PathId, u64)| {
            let edges = self.decode(f, structure, id)?;
            Ok(Ran { id, count, edges })
        };
        self.counts(f).iter().map(ran).collect()
    }
}
