//! What was measured: the evidence that everything else in a profile follows from.

use super::{Profile, Ran, Structure};
use crate::error::{Error, Result};
use crate::index::{EdgeId, FuncId, PathId, TiVec, ti_vec};
use crate::sampling::profile::Subpaths;
use crate::shadow::profile::Bursts;
use crate::strategy::Measure;
use std::ops::Deref;

/// By function: what ran and how often (never zero), by ascending id. Counted, not estimated.
pub type ExactCounts<Id> = TiVec<FuncId, Vec<(Id, u64)>>;

/// What a profile holds counts of: one kind of thing in all functions, as its scheme says. These counts are exact, for
/// completed paths and for counted edges; how exact what follows from them is, [`super::left::Range`] tells.
///
/// Exactness is a property of the variant, not of each number: all counts of a profile are taken in one way. A scheme that
/// estimates gets a variant with a type of its own in place of [`ExactCounts`]. Nothing can then take its numbers for counts:
/// paths are read through [`PathProfile`], which is made of [`ExactCounts`] alone, and whatever else reads counts matches
/// on this type and does not compile before it says what it makes of an estimate.
#[derive(Clone, Debug, PartialEq)]
pub enum Measurement {
    /// Paths, by canonical id.
    Paths(ExactCounts<PathId>),
    /// Those edges of the DAG that have counters ([`Profile::counted_edges`]).
    Edges(ExactCounts<EdgeId>),
    /// A sample of subpaths: what it says is an [`Estimate`](crate::estimate::Estimate).
    Sampled(Subpaths),
    /// Paths in bursts, a sample as well.
    Bursts(Bursts),
}

impl Measurement {
    /// Of so many functions, before anything has run.
    pub fn none(measure: Measure, functions: usize) -> Measurement {
        match measure {
            Measure::Paths => Measurement::Paths(ti_vec![Vec::new(); functions]),
            Measure::Edges => Measurement::Edges(ti_vec![Vec::new(); functions]),
            Measure::Subpaths => Measurement::Sampled(Subpaths::default()),
            Measure::Bursts => Measurement::Bursts(Bursts::none(functions)),
        }
    }

    /// Of how many paths or edges of function `f` it is known that they ran; subpaths are of no one function.
    pub fn distinct(&self, f: FuncId) -> usize {
        match self {
            Measurement::Paths(counts) => counts[f].len(),
            Measurement::Edges(counts) => counts[f].len(),
            Measurement::Sampled(_) => 0,
            Measurement::Bursts(bursts) => bursts.counts[f].len(),
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
            Measurement::Paths(counts) => Ok(PathProfile {
                profile: self,
                counts,
            }),
            Measurement::Edges(_) => Err(Error::profile(
                &self.path,
                "it counts edges, not paths",
                "show it with --edges, or profile paths",
            )),
            Measurement::Sampled(_) | Measurement::Bursts(_) => Err(self.only_estimates()),
        }
    }

    /// Whether it holds exact counts, of paths or of edges.
    ///
    /// # Errors
    /// A profile of estimates.
    pub fn exact(&self) -> Result<()> {
        match self.measured {
            Measurement::Paths(_) | Measurement::Edges(_) => Ok(()),
            Measurement::Sampled(_) | Measurement::Bursts(_) => Err(self.only_estimates()),
        }
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
    pub fn all(self) -> impl Iterator<Item = (PathId, u64)> + 'a {
        self.counts.iter().flatten().copied()
    }

    /// The paths of function `f` that ran, with their edges. O(total path length).
    ///
    /// # Errors
    /// Ids that no path has.
    pub fn ran(self, f: FuncId, structure: &Structure) -> Result<Vec<Ran>> {
        let ran = |&(id, count): &(PathId, u64)| {
            let edges = self.decode(f, structure, id)?;
            Ok(Ran { id, count, edges })
        };
        self.counts(f).iter().map(ran).collect()
    }
}
