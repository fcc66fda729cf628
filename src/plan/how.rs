//! How code that counts is written, for all plans of a rewriting.

/// How counts are incremented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counters {
    /// In the code, but for ids that a hash table has not cached
    Auto,
    /// Everything by a call
    Call,
}

/// Whether counts stay exact when several threads count at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Plain loads and stores: exact in one thread
    Single,
    /// Atomic increments: exact in any number
    Atomic,
}

/// What becomes of the names of values within functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// They are there for who reads the text.
    Kept,
    /// Nothing reads them; but LLVM reads no text without them.
    Dropped,
}
