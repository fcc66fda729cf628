//! Why a manifest cannot be used. Messages name no file: whoever opened it knows which.

use super::VERSION;
use crate::copies::strategy::Scheme;

/// Why a manifest cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ManifestProblem {
    /// It is no JSON with a format and a version. The parser's error has the line and the column.
    #[error("not a manifest: {0}")]
    NoHeader(serde_json::Error),
    /// It is JSON of another format.
    #[error("not a manifest: format is {0:?}")]
    OtherFormat(String),
    /// It is a manifest of a version that is not read.
    #[error("manifest version {0} (this build: {VERSION})")]
    OtherVersion(u32),
    /// It does not follow the schema. The parser's error has the line, the column and what was
    /// expected there.
    #[error("damaged manifest: {0}")]
    NotOfSchema(serde_json::Error),
    /// It follows the schema, but contradicts itself.
    #[error("damaged manifest: {0}")]
    OutOfRange(#[from] OutOfRange),
    /// Its scheme estimates.
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
}

/// A scheme that this build does not have.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("scheme {0} estimates, and this build has no such schemes")]
pub struct NotBuilt(Scheme);

impl NotBuilt {
    /// What to do about it.
    pub const REMEDY: &'static str = "use a build with the cargo feature estimates";

    /// # Errors
    /// A scheme that this build does not have.
    pub(crate) fn refuse_unbuilt(scheme: Scheme) -> Result<(), NotBuilt> {
        scheme.is_built().then_some(()).ok_or(NotBuilt(scheme))
    }
}

/// A number that nothing in the manifest has, or a list that is out of order.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfRange {
    /// In what is about the whole program.
    #[error("{0} out of range")]
    Program(&'static str),
    /// In the entry of a function.
    #[error("{function}: {what} out of range")]
    Function {
        /// Its symbol.
        function: String,
        /// The field.
        what: &'static str,
    },
}

/// Why a function's share does not fit its control flow.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareProblem {
    /// A set of edges cannot be decoded. The decoder's error has the offset.
    #[error("edge set is not base64: {0}")]
    NotBase64(base64::DecodeError),
    /// A set of edges has one that the function does not have.
    #[error("edge set names edge {edge} of {edges}")]
    NoSuchEdge {
        /// The edge.
        edge: usize,
        /// How many the function has.
        edges: usize,
    },
    /// A range has an id that no path has.
    #[error("path id out of range")]
    NoSuchPath,
    /// A warm edge is none of the function's.
    #[error("edge out of range")]
    NoSuchWarmEdge,
    /// The scheme counts no edges, or the function is skipped.
    #[error("{0} has no counted edges")]
    NoCountedEdges(String),
}
