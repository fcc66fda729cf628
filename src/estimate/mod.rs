//! Estimates, as profiles hold them: which kinds there are, and what each says. How they are taken and shown is in
//! rooms of their own, `sampling` and `shadow`.
//!
//! Exact rooms use what this module names, and nothing inside `subpaths` or `bursts`. Without the feature `estimates` there
//! is no kind, and `none` has the same names.

#[cfg(feature = "estimates")]
pub mod bursts;
#[cfg_attr(feature = "estimates", path = "kinds.rs")]
#[cfg_attr(not(feature = "estimates"), path = "none.rs")]
mod kinds;
#[cfg(feature = "estimates")]
mod number;
#[cfg(feature = "estimates")]
pub mod subpaths;

pub(crate) use kinds::Gathered;
pub use kinds::{Estimated, InRaw, SavedBursts, SavedSample, Settings};
#[cfg(feature = "estimates")]
pub use number::{Estimate, Z95};

use crate::error::{Error, Result};
use crate::index::{CopyId, FuncId, PathId};
use std::collections::BTreeMap;
use std::path::Path;

/// What is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How often subpaths ran, from a sample of them.
    Subpaths,
    /// The shares of paths, from bursts in which all are counted.
    Bursts,
}

/// The size of a program.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// All functions.
    pub functions: usize,
    /// All blocks of them.
    pub blocks: usize,
}

/// Estimates in the payload of a profile's file: of one kind at most.
#[derive(Default)]
pub(crate) struct Saved {
    pub sample: Option<SavedSample>,
    pub bursts: Option<SavedBursts>,
}

/// Where a block is in a raw profile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub found: u64,
    /// Behind its header.
    pub inside: u64,
    pub end: u64,
}

/// A sum of counts that is larger than any process can have counted.
#[derive(Debug, thiserror::Error)]
#[error("damaged: a count overflows")]
pub(crate) struct Overflow;

/// Translates ids that a copy counted in a function, each with a number, to canonical ones.
pub(crate) type Canonical<'a> =
    &'a dyn Fn(CopyId, FuncId, &BTreeMap<u64, u64>) -> Result<Vec<(PathId, u64)>>;

/// The program whose estimates are put together.
pub(crate) struct Program<'a> {
    /// What files are said to be of.
    pub path: &'a Path,
    pub kind: Kind,
    pub size: Size,
    pub canonical: Canonical<'a>,
}

/// Why estimates cannot be put together.
pub(crate) enum Refused {
    /// They are of another program, or were taken in several ways.
    Foreign(String),
    /// Anything else, as it is told.
    Told(Error),
}

impl Refused {
    /// As it is told where `foreign` tells what is of another program.
    pub(crate) fn told(self, foreign: impl FnOnce(String) -> Error) -> Error {
        match self {
            Refused::Foreign(problem) => foreign(problem),
            Refused::Told(error) => error,
        }
    }
}
