//! Why a merged profile cannot be read. Messages name no file: whoever opened it knows which.

use super::MAGIC;
use crate::profile::manifest::{NotBuilt, OutOfRange};
use std::io;

/// Why a merged profile cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ProfileProblem {
    /// It does not begin like a merged profile.
    #[error("not a merged profile")]
    NotMerged,
    /// It is a merged profile of a version that is not read.
    #[error("profile version {0} (this build: {newest})", newest = MAGIC[7])]
    OtherVersion(u8),
    /// It ends inside its header.
    #[error("damaged: cut short")]
    CutHeader,
    /// It has fewer bytes behind its header than that says.
    #[error("damaged: {length} bytes of payload instead of {expected}")]
    Shorter {
        /// How many there are.
        length: usize,
        /// How many the header says.
        expected: u64,
    },
    /// It has more bytes behind its header than that says, which are so many.
    #[error("damaged: more than {0} bytes of payload")]
    Longer(u64),
    /// The checksum of the header is not that of the payload.
    #[error("damaged: the checksum is wrong")]
    Checksum,
    /// The header promises more than a profile of its size unpacks to.
    #[error("damaged: {packed} bytes cannot unpack to {unpacked}")]
    TooDense {
        /// The bytes of the payload.
        packed: u64,
        /// What it is said to unpack to.
        unpacked: u64,
    },
    /// The payload cannot be unpacked.
    #[error("damaged: {0}")]
    NotCompressed(io::Error),
    /// The payload does not unpack to as many bytes as the header says.
    #[error("damaged: it does not unpack to {0} bytes")]
    OtherSize(u64),
    /// The payload is no profile. The parser's error has the line, the column and what was
    /// expected there.
    #[error("damaged: {0}")]
    NotOfSchema(serde_json::Error),
    /// The scheme estimates.
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    /// The manifest in it contradicts itself.
    #[error("damaged: {0}")]
    Manifest(#[from] OutOfRange),
    /// This part of it contradicts the rest.
    #[error("damaged: {0}")]
    Contradiction(&'static str),
}
