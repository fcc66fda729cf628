//! What `p3-prof` asks an engine, and what that answers: a line of JSON each.

use super::Judgement;
use super::solver::Program;
use crate::paths::dag::{Path, PathEnd, PathStart};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Paths of one function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The file of the module.
    pub module: PathBuf,
    /// The blake3 hash of its bytes, in hexadecimal.
    pub hash: String,
    /// The ordinal of the definition.
    pub ordinal: u32,
    /// The paths.
    pub paths: Vec<AskedPath>,
    /// [`super::Question::is_alone`].
    pub is_alone: bool,
    /// [`super::Question::own_names`].
    pub own_names: Vec<String>,
    /// The solver to ask, if there is one.
    pub solver: Option<Program>,
}

/// A path, as blocks and ways out of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedPath {
    /// [`super::Question::starts_in_loop`].
    pub starts_in_loop: bool,
    /// [`super::Question::blocks`].
    pub blocks: Vec<u32>,
    /// [`super::Question::succs`].
    pub succs: Vec<u32>,
}

impl AskedPath {
    /// A path of a DAG. O(length).
    pub fn new(path: &Path) -> AskedPath {
        let last = match path.end {
            PathEnd::Back(edge, _) => Some(edge.succ),
            PathEnd::Exit => None,
        };
        AskedPath {
            starts_in_loop: path.start == PathStart::Loop,
            blocks: path.blocks.iter().map(|b| b.0).collect(),
            succs: path.succs.iter().copied().chain(last).collect(),
        }
    }
}

/// What an engine answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Of each path.
    Judgements(Vec<Judgement>),
    /// Why it cannot judge paths of this module.
    Problem(String),
}
