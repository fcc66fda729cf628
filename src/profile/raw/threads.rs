//! What a raw profile says of threads.

use super::version::OLDEST_WITH_THREADS;
use crate::runtime::format::{self, Header};
use serde::{Deserialize, Serialize};
use zerocopy::byteorder::ByteOrder;

/// What is known of second threads in the processes that counted in a file: where increments are plain, and two threads
/// make them at once, one is lost. What says more is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threads {
    /// There was none, or all had counters of their own, or increments are atomic.
    #[default]
    None,
    /// The program started none; the C library may have, by itself.
    Inside,
    /// Nobody saw whether there was one.
    Unseen,
    /// There was one.
    Started,
    /// There was one that had no counters of its own, where others had.
    Shared,
}

impl Threads {
    pub(super) fn from_header<O: ByteOrder>(header: &Header<O>) -> Threads {
        let has = |flag| header.flags.get() & flag != 0;
        if header.update.get() == format::UPDATE_ATOMIC {
            Threads::None
        } else if has(format::THREADS) {
            if header.update.get() == format::UPDATE_BY_THREAD {
                Threads::Shared
            } else {
                Threads::Started
            }
        } else if has(format::UNSEEN) || header.version.get() < OLDEST_WITH_THREADS {
            Threads::Unseen
        } else if has(format::INSIDE) {
            Threads::Inside
        } else {
            Threads::None
        }
    }

    /// Whether nothing can have been lost.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(crate) fn is_none(&self) -> bool {
        *self == Threads::None
    }
}
