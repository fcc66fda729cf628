//! How code that counts is written, for all plans of a rewriting.

/// How counts are incremented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counters {
    /// In the code, but for ids that a hash table has not cached
    Auto,
    /// Everything by a call
    Call,
}

impl Counters {
    /// The name in options and in [`crate::write::options::Options::identity`].
    pub fn word(self) -> &'static str {
        match self {
            Counters::Auto => "auto",
            Counters::Call => "call",
        }
    }
}

/// Whether counts stay exact when several threads count at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Plain loads and stores: exact in one thread
    Single,
    /// Atomic increments: exact in any number
    Atomic,
    /// Plain increments of counters that each thread has for itself: exact in any number
    Thread,
}

impl Update {
    /// The name in options and in [`crate::write::options::Options::identity`].
    pub fn word(self) -> &'static str {
        match self {
            Update::Single => "single",
            Update::Atomic => "atomic",
            Update::Thread => "thread",
        }
    }
}

/// What becomes of the names of values within functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// They are there for who reads the text.
    Kept,
    /// Nothing reads them; but LLVM reads no text without them.
    Dropped,
}
