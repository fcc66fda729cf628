//! What rewritten modules and the runtime share in memory. `emit::data` writes these structures.

use super::Type::{Pointer, U8, U32, U64};
use super::{Field, Struct, Type, constants};

constants! {
    /// The version of this interface.
    VERSION "P3_ABI": u32 = 11;
    /// Kind of a function's counters: an array, indexed by path ids.
    ARRAY "P3_ARRAY": u32 = 0;
    /// A hash table by path ids.
    HASH "P3_HASH": u32 = 1;
    /// One counter, of the function's entries.
    ENTRIES "P3_ENTRIES": u32 = 2;
    /// One counter, of executed probes (`--count-hits`).
    HITS "P3_HITS": u32 = 3;
    /// Counters of what forked children did in a function that calls `fork`: returns of `fork` in a child, returns of
    /// children from an activation that they did not enter, children that completed the path on which they were forked;
    /// then by block how often children entered it on that path.
    FORKS "P3_FORKS": u32 = 4;
    /// In a module's flags: counts are updated atomically.
    ATOMIC "P3_ATOMIC": u32 = 1;
    /// In a module's flags: each thread has counters of its own, at a distance from those of the first thread.
    BY_THREAD "P3_BY_THREAD": u32 = 4;
    /// In the flags of sampling: subpaths are those of each activation by itself.
    WITHIN "P3_WITHIN": u32 = 1;
    /// In the flags of sampling: the seed was asked for; else each process has one of its own.
    SEEDED "P3_SEEDED": u32 = 2;
    /// In the flags of sampling: the list is a counting sample, in which every point of a subpath counts that is
    /// listed; else a concise one.
    COUNTING "P3_COUNTING": u32 = 4;
    /// The words of an activation that is sampled.
    FRAME_WORDS "P3_FRAME_WORDS": u32 = 2;
    /// Of these: where the next sample begins.
    FRAME_SKIP "P3_FRAME_SKIP": u32 = 0;
    /// How many blocks are nothing to the runtime, while nothing is recorded across calls.
    FRAME_UNTOLD "P3_FRAME_UNTOLD": u32 = 1;
    /// The most lengths of subpaths.
    MOST_LENGTHS "P3_MOST_LENGTHS": u32 = 16;
    /// In a module's flags: its functions do not count, but have others beside them that do, for forked shadows.
    SHADOW "P3_SHADOWED": u32 = 2;
    /// The most levels of a hash table: level i has P3_FIRST_SLOTS << 2 * i slots. A key is in the first level in which
    /// its window of P3_WINDOW slots had room when it came, and never moves.
    LEVELS "P3_LEVELS": u32 = 12;
    /// The number of slots of level 0.
    FIRST_SLOTS "P3_FIRST_SLOTS": u32 = 128;
    /// The number of slots in which a level may have a key.
    WINDOW "P3_WINDOW": u32 = 8;
    /// A key is cached at its upper so many bits. Functions execute some thousand paths each at the most (gnugo: 33,000
    /// in 300 tables), and two of them that share a slot cost a call each time they alternate; what is not used takes
    /// no memory.
    CACHE_BITS "P3_CACHE_BITS": u32 = 13;
    /// The number of slots that a table's cache holds.
    CACHED "P3_CACHED": u32 = 1 << CACHE_BITS;
    /// The key of an id is the id plus one, times this, modulo 2^64; modulo 2^32, times its upper half, where all ids
    /// are below 2^32 - 1. The golden ratio of 2^64: neighbouring ids land far from each other (Fibonacci hashing). It
    /// is odd, and so is its upper half: keys lead back to ids, and none is 0.
    HASH_FACTOR "P3_HASH_FACTOR": u64 = 0x9e37_79b9_7f4a_7c15;
}

/// A hash table.
pub const TABLE: Struct = Struct {
    name: "p3_table",
    about: "A growing hash table.",
    fields: &[
        Field::new("func", U32, "its number in the manifest"),
        Field::new("bits", U32, "of its keys: 32 or 64"),
        Field::new("size", U64, "one more than the largest id"),
        Field::new(
            "distance",
            U64,
            "the runtime's: from the first thread's table to this one, in bytes, modulo 2^64",
        ),
        Field::new(
            "shift",
            U64,
            "the runtime's: the number of that distance, 0 for the first thread's",
        ),
        Field::array(
            "level",
            Pointer("struct p3_slot"),
            LEVELS,
            "P3_LEVELS; NULL from the first that was not needed so far",
        ),
        Field::new(
            "cache",
            Pointer("int64_t"),
            "of the first thread: 0, then P3_CACHED slots, as distances in bytes from that 0 (a thread's own words \
             are at `distance` from these, and hold distances from the first thread's 0); NULL without inlined \
             counting. Each is a slot of some key whose first or second place that is (p3_table.c), or the 0 itself, \
             read as a slot that no key has. A slot is checked by its key, so any race is harmless.",
        ),
    ],
};

/// How subpaths are sampled.
pub const SAMPLING: Struct = Struct {
    name: "p3_sampling",
    about: "How subpaths are sampled.",
    fields: &[
        Field::new(
            "period",
            U64,
            "the mean number of blocks from one beginning of a sample to the next, at first",
        ),
        Field::new("seed", U64, "where P3_SEEDED says so"),
        Field::new(
            "memory",
            U64,
            "of the hot list and what finds its entries, in bytes",
        ),
        Field::new("flags", U32, "P3_WITHIN, P3_SEEDED, P3_COUNTING"),
        Field::new("n_lengths", U32, "number of lengths"),
        Field::array(
            "lengths",
            U64,
            MOST_LENGTHS,
            "in blocks, ascending; zeros behind",
        ),
        Field::array(
            "chances",
            U64,
            MOST_LENGTHS,
            "how many of 2^32 samples have each; their sum is 2^32",
        ),
    ],
};

/// The budget of a thread: a variable of the runtime, `int64_t`, that rewritten modules count down by the slots of
/// segments.
pub const BUDGET: &str = "__p3_budget";

/// Where the code of other processors than x86-64 finds its thread's distance: a variable of the runtime, `int64_t`.
/// The distance is so many bytes behind the thread pointer; 0: the distance is 0.
pub const OWN_OFFSET: &str = "__p3_own_offset";

/// The constant of a module that has what the profile says of it: its number in the program, and those of functions.
pub const BLOCK_SYMBOL: &str = "__p3_block";

/// The description of a module, a [`MODULE`].
pub const MODULE_SYMBOL: &str = "__p3_module";

/// A module.
pub const MODULE: Struct = Struct {
    name: "p3_module",
    about: "What a module tells of itself.",
    fields: &[
        Field::new("abi", U32, "P3_ABI"),
        Field::new("n_tables", U32, "number of its hash tables"),
        Field::new("copy", U32, "which copy of the program it is in"),
        Field::new("copies", U32, "their number"),
        Field::array(
            "program",
            U8,
            16,
            "the rewriting: `program` of manifest.json",
        ),
        Field::new("flags", U32, "P3_ATOMIC, P3_SHADOWED, P3_BY_THREAD"),
        Field::new("n_entries", U32, "P3_SHADOWED: number of its functions"),
        Field::new(
            "block",
            Pointer("const struct p3_raw_block"),
            "what the profile says of it, with its records and checksum, as it will stand there",
        ),
        Field::new("tables", Pointer("struct p3_table"), "its hash tables"),
        Field::new("counters", Pointer("uint64_t"), "whole pages of its own"),
        Field::new("counters_size", U64, "in bytes, a multiple of page"),
        Field::new("page", U64, "the largest that a kernel for its target has"),
        Field::new("next", Pointer("struct p3_module"), "the runtime's list"),
        Field::new(
            "live",
            U64,
            "the runtime's: not 0 where the counters are mapped over the profile",
        ),
        Field::new(
            "sampling",
            Pointer("const struct p3_sampling"),
            "how it samples subpaths; NULL: it counts",
        ),
        Field::new(
            "entries",
            Pointer("const struct p3_entry"),
            "P3_SHADOWED: its functions",
        ),
    ],
};

/// A place that native code has as well.
pub const PASSED: Struct = Struct {
    name: "p3_passed",
    about: "Where native code and the code that counts both come by: what that notes in a burst.",
    fields: &[
        Field::new("times", U64, "how often"),
        Field::new(
            "left",
            U64,
            "instructions that were left the last time; negative numbers modulo 2^64",
        ),
    ],
};

/// A function beside one.
pub const ENTRY: Struct = Struct {
    name: "p3_entry",
    about: "A function that another one stands beside.",
    fields: &[
        Field::new(
            "from",
            Pointer("uint8_t"),
            "where it begins: sixteen bytes of nops are before it",
        ),
        Field::new(
            "counting",
            Pointer("const uint8_t"),
            "what a jump there leads to, to be counted",
        ),
        Field::new(
            "passed",
            Pointer("struct p3_passed"),
            "what that notes of its entry",
        ),
    ],
};

/// What a jump to addresses of blocks (`indirectbr`) leads to.
pub const JUMPS: Struct = Struct {
    name: "p3_jumps",
    about: "The targets of a jump to addresses of blocks.",
    fields: &[
        Field::new("n", U32, "their number"),
        Field::new(
            "bits",
            U32,
            "of a slot's number: 2^bits is twice n at least",
        ),
        Field::new(
            "targets",
            Pointer("const void *const"),
            "the addresses in the native function",
        ),
        Field::new(
            "slots",
            Pointer("uint32_t"),
            "a hash table: one more than the number of a target, or 0",
        ),
    ],
};

/// A function of the runtime that rewritten modules call. None unwinds.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// What it gives, if anything.
    pub result: Option<Type>,
    /// Types and names of its parameters.
    pub parameters: &'static [(Type, &'static str)],
    /// What it does.
    pub about: &'static str,
}

const KEY: (Type, &str) = (U64, "key");
const A_TABLE: (Type, &str) = (Pointer("struct p3_table"), "table");
const A_COUNTER: (Type, &str) = (Pointer("uint64_t"), "counter");

/// Registers a module.
pub const REGISTER: Function = Function {
    name: "__p3_register",
    result: None,
    parameters: &[(Pointer("struct p3_module"), "module")],
    about: "Called by each module's constructor.",
};
/// [`REGISTER`] for a module whose functions count in shadows.
pub const REGISTER_SHADOW: Function = Function {
    name: "__p3_register_shadow",
    about: "The same for one with P3_SHADOWED.",
    ..REGISTER
};
/// Counts a path in a hash table.
pub const COUNT: Function = Function {
    name: "__p3_count",
    result: None,
    parameters: &[A_TABLE, KEY],
    about: "Counts a path id by its key, which is in the table's cache from now on; 0 counts nothing.",
};
/// [`COUNT`], exact where several threads count.
pub const COUNT_ATOMIC: Function = Function {
    name: "__p3_count_atomic",
    about: "The same, exact where several threads count.",
    ..COUNT
};
/// [`COUNT`] in the calling thread's own table.
pub const COUNT_BY_THREAD: Function = Function {
    name: "__p3_count_by_thread",
    about: "The same in the table of the calling thread, where `table` is that of the first one.",
    ..COUNT
};
/// Increments one counter.
pub const ADD: Function = Function {
    name: "__p3_add",
    result: None,
    parameters: &[A_COUNTER],
    about: "--counters call: increments one counter.",
};
/// [`ADD`], exact where several threads count.
pub const ADD_ATOMIC: Function = Function {
    name: "__p3_add_atomic",
    about: "The same, exact where several threads count.",
    ..ADD
};
/// [`ADD`] of the calling thread's own counter.
pub const ADD_BY_THREAD: Function = Function {
    name: "__p3_add_by_thread",
    about: "The same for the counter of the calling thread, where `counter` is that of the first one.",
    ..ADD
};

const A_FRAME: (Type, &str) = (Pointer("int64_t"), "frame");
/// Decides whether a segment is sampled.
pub const SUBPATH_BOUNDARY: Function = Function {
    name: "__p3_subpath_boundary",
    result: Some(U32),
    parameters: &[A_FRAME, (U64, "slots"), (U32, "fresh")],
    about: "A segment begins, whose slots are paid: whether the sampling version runs it, from the skipping one where \
            it is fresh.",
};
/// Tells of a block.
pub const SUBPATH_BLOCK: Function = Function {
    name: "__p3_subpath_block",
    result: None,
    parameters: &[A_FRAME, (U32, "block")],
    about: "A block begins in the sampling version.",
};

/// Looks up where a jump leads.
pub const JUMP: Function = Function {
    name: "__p3_jump",
    result: Some(U32),
    parameters: &[
        (Pointer("const struct p3_jumps"), "jumps"),
        (Pointer("const void"), "address"),
    ],
    about: "In a shadow: the number of the first target that is at an address.",
};

/// All of them.
pub const FUNCTIONS: [Function; 11] = [
    REGISTER,
    REGISTER_SHADOW,
    COUNT,
    COUNT_ATOMIC,
    COUNT_BY_THREAD,
    ADD,
    ADD_ATOMIC,
    ADD_BY_THREAD,
    SUBPATH_BOUNDARY,
    SUBPATH_BLOCK,
    JUMP,
];
