//! What exact rooms and kinds of estimates hand each other, in every build.
#![cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use all of it")
)]

use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, FuncId, PathId};
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

/// How subpaths are to be sampled.
pub(crate) struct SamplingRequest<'a> {
    /// Blocks from one sample to the next, on average.
    pub period: u64,
    /// Of subpaths, in blocks, ascending.
    pub lengths: &'a [u32],
    /// The chance of a length is in proportion to its power of `-bias`.
    pub bias: f64,
    /// Keep each subpath within one activation.
    pub within_functions: bool,
    /// Count all points of a subpath that is listed.
    pub counting: bool,
    /// Bytes of the hot list.
    pub memory: u64,
    pub seed: Option<u64>,
}

/// The size of a program.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// All functions.
    pub functions: usize,
    /// All blocks of them.
    pub blocks: usize,
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
pub(crate) struct EstimatedProgram<'a> {
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
    pub(crate) fn into_error(self, foreign: impl FnOnce(String) -> Error) -> Error {
        match self {
            Refused::Foreign(problem) => foreign(problem),
            Refused::Told(error) => error,
        }
    }
}
