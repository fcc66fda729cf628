//! Why a raw profile cannot be read.

use super::format::VERSION;
use std::borrow::Cow;
use std::io;

/// Why a raw profile cannot be read. Messages name no file: whoever opened it knows which.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// It does not begin like a raw profile, in either byte order.
    #[error("not a raw profile")]
    NotRaw,
    /// It is shorter than a header.
    #[error("not a raw profile: too short")]
    TooShort,
    /// It is a raw profile of a version that is not read.
    #[error("raw format version {0} (this build: {VERSION})")]
    Version(u32),
    /// It has fewer bytes than its header says.
    #[error("damaged: {length} bytes long instead of {should}")]
    Cut {
        /// How many it has.
        length: u64,
        /// How many the header says.
        should: u64,
    },
    /// A checksum, an offset or a number contradicts the rest.
    #[error("damaged: {0}")]
    Damaged(Cow<'static, str>),
    /// A process cut it while it was read.
    #[error("it became shorter while it was read")]
    Shrank,
    /// A process set its counts aside each time that it was read.
    #[error("its baseline changed again and again while it was read; try again")]
    SetAside,
    /// A process changed its sample each time that it was read.
    #[error("its sample changed while it was read; try again")]
    SampleChanges,
    /// The system refused to read it.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

impl Problem {
    /// Whether reading the file again cannot help: it is a file of another kind.
    pub fn is_of_another_kind(&self) -> bool {
        matches!(self, Problem::NotRaw | Problem::TooShort)
    }
}

impl From<Problem> for String {
    fn from(problem: Problem) -> String {
        problem.to_string()
    }
}

/// What is damaged, and where: `the burst at 4096`.
pub(crate) fn damaged(what: impl Into<Cow<'static, str>>) -> Problem {
    Problem::Damaged(what.into())
}
