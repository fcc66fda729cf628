//! The raw profile, as it is in a file: `docs/RAW_FORMAT.md` explains it.

use super::{Field, Struct, Type, constants};
use std::mem::offset_of;
use std::ops::Range;
use zerocopy::byteorder::{ByteOrder, LE, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

constants! {
    /// What a file begins with: \xff p3raw \xff and the version. Read in the other byte order it tells that.
    MAGIC "P3_RAW_MAGIC": u64 = 0xff70_3372_6177_ff07;
    /// What a block begins with: p3block and a version.
    BLOCK_MAGIC "P3_BLOCK_MAGIC": u64 = 0x7033_626c_6f63_6b03;
    /// What a chunk begins with: p3chunk and a version.
    CHUNK_MAGIC "P3_CHUNK_MAGIC": u64 = 0x7033_6368_756e_6b03;
    /// The version of the format.
    VERSION "P3_RAW_VERSION": u32 = 9;
    /// In the flags: counts were lost, without memory or space.
    LOST "P3_RAW_LOST": u32 = 1;
    /// In the flags: the program sets its counts to zero (p3_profile_reset), so no other process adds to them.
    APART "P3_RAW_APART": u32 = 2;
    /// In the flags: counts are in memory alone, until the process ends normally. One that was killed has lost them.
    UNSAVED "P3_RAW_UNSAVED": u32 = 4;
    /// Of the process: only the first P3_RAW_ARGUMENTS_MAX bytes of its arguments are there.
    ARGUMENTS_CUT "P3_RAW_ARGUMENTS_CUT": u32 = 1;
    /// Of the process: the system did not tell its arguments.
    ARGUMENTS_UNKNOWN "P3_RAW_ARGUMENTS_UNKNOWN": u32 = 2;
    /// The most bytes of arguments that are kept, their zeros included.
    ARGUMENTS_MAX "P3_RAW_ARGUMENTS_MAX": u32 = 1 << 15;
    /// Kind of a block: the counters of a module.
    MODULE "P3_BLOCK_MODULE": u32 = 1;
    /// Kind of a block: an arena, which holds chunks of hash tables.
    ARENA "P3_BLOCK_ARENA": u32 = 2;
    /// Kind of a block: how the processes of a pool's file were started.
    STARTED "P3_BLOCK_STARTED": u32 = 3;
    /// Kind of a block: a sample of subpaths.
    SAMPLE "P3_BLOCK_SAMPLE": u32 = 4;
    /// Where the two areas of a sample begin in its block.
    SAMPLE_AREAS "P3_SAMPLE_AREAS": u32 = 512;
    /// The most lengths of subpaths.
    SAMPLE_LENGTHS "P3_SAMPLE_LENGTHS": u32 = 16;
    /// Sampled subpaths of more blocks than this are written with repetitions.
    PLAIN_BLOCKS "P3_PLAIN_BLOCKS": u32 = 8;
    /// How far back a repetition reaches, in blocks.
    REPEAT_WINDOW "P3_REPEAT_WINDOW": u32 = 64;
    /// The most bytes that a sampled subpath is written in.
    SUBPATH_MOST "P3_SUBPATH_MOST": u32 = 4096;
    /// The most bytes of text of one such record.
    STARTED_TEXT_MAX "P3_STARTED_TEXT_MAX": u32 = 1 << 12;
    /// The size of such a block, or a page if that is larger.
    STARTED_SIZE "P3_STARTED_SIZE": u32 = 1 << 14;
    /// The most such blocks of a file: processes that are started otherwise are counted and not described from then on.
    STARTED_MOST "P3_STARTED_MOST": u32 = 64;
    /// Kind of a block: what a shadow counted in a burst.
    BURST "P3_BLOCK_BURST": u32 = 6;
    /// Kind of a block: what became of all shadows.
    SHADOWS "P3_BLOCK_SHADOWS": u32 = 7;
    /// Kind of a block: what counters of another one held when they were set aside.
    PAST "P3_BLOCK_PAST": u32 = 8;
    /// Why a burst ended: it was over.
    END_BURST "P3_END_BURST": u32 = 0;
    /// It took too long.
    END_TIME "P3_END_TIME": u32 = 1;
    /// A system call that cannot be imitated.
    END_CALL "P3_END_CALL": u32 = 2;
    /// It waited for a lock, which only another thread would release.
    END_LOCK "P3_END_LOCK": u32 = 3;
    /// A signal.
    END_SIGNAL "P3_END_SIGNAL": u32 = 4;
    /// The thread or the program ended in it.
    END_EXIT "P3_END_EXIT": u32 = 5;
    /// The program ended.
    END_PARENT "P3_END_PARENT": u32 = 6;
    /// Memory is shared that cannot be copied.
    END_SHARED "P3_END_SHARED": u32 = 7;
    /// There was no memory.
    END_MEMORY "P3_END_MEMORY": u32 = 8;
    /// The code cannot be written.
    END_TEXT "P3_END_TEXT": u32 = 9;
    /// System calls cannot be filtered.
    END_FILTER "P3_END_FILTER": u32 = 10;
    /// It jumped to an address that several blocks have.
    END_JUMP "P3_END_JUMP": u32 = 11;
    /// What was done about a system call: it was made.
    CALL_ALLOWED "P3_CALL_ALLOWED": u32 = 0;
    /// It was not made, and the program was told that it succeeded.
    CALL_ASSUMED "P3_CALL_ASSUMED": u32 = 1;
    /// It was imitated.
    CALL_HANDLED "P3_CALL_HANDLED": u32 = 2;
    /// It ended the burst.
    CALL_ENDED "P3_CALL_ENDED": u32 = 3;
    /// What chunks are aligned to.
    CHUNK_ALIGN "P3_CHUNK_ALIGN": u32 = 64;
}

/// How a type of these structures is called in C.
trait Shared {
    const TYPE: Type;
    const ELEMENTS: Option<u32> = None;
}

impl Shared for u8 {
    const TYPE: Type = Type::U8;
}

impl<O> Shared for U32<O> {
    const TYPE: Type = Type::U32;
}

impl<O> Shared for U64<O> {
    const TYPE: Type = Type::U64;
}

impl<T: Shared, const N: usize> Shared for [T; N] {
    const TYPE: Type = T::TYPE;
    const ELEMENTS: Option<u32> = Some(N as u32);
}

/// Structures of Rust, in either byte order, and their lists of fields.
macro_rules! structures {
    ($($(#[doc = $about:literal])+ $name:ident $list:ident $c:literal {
        $($(#[doc = $what:literal])+ $field:ident: $ty:ty,)+
    })+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Copy, FromBytes, Immutable, IntoBytes, KnownLayout)]
        #[repr(C)]
        pub struct $name<O: ByteOrder> {
            $($(#[doc = $what])+ pub $field: $ty,)+
        }

        $(#[doc = $about])+
        pub const $list: Struct = Struct {
            name: $c,
            about: concat!($($about),+),
            fields: {
                type O = LE;
                &[$(Field {
                    name: stringify!($field),
                    ty: <$ty as Shared>::TYPE,
                    elements: <$ty as Shared>::ELEMENTS,
                    about: concat!($($what),+),
                },)+]
            },
        };
    )+};
}

structures! {
    /// At offset 0. Strings follow. Blocks begin at the next multiple of the page.
    Header HEADER "p3_raw_header" {
        /// P3_RAW_MAGIC
        magic: U64<O>,
        /// P3_RAW_VERSION
        version: U32<O>,
        /// of this header
        header_size: U32<O>,
        /// the rewriting: `program` of manifest.json
        program: [u8; 16],
        /// random; no other file has it
        unique: [u8; 16],
        /// which copy
        copy: U32<O>,
        /// number of copies
        copies: U32<O>,
        /// id of the process that made the file
        pid: U64<O>,
        /// process id of its parent
        parent: U64<O>,
        /// what blocks are aligned to
        page: U64<O>,
        /// 1 when counts are updated atomically
        atomic: U32<O>,
        /// number of arguments, the program's name included
        arguments: U32<O>,
        /// size of the strings behind this header
        text_size: U32<O>,
        /// what is not known of the process: P3_RAW_ARGUMENTS_CUT, P3_RAW_ARGUMENTS_UNKNOWN
        process: U32<O>,
        /// of a pool (%m): the system's boot id, since processes of this boot may add to the file; zeros: no other process does
        boot: [u8; 16],
        /// 0
        reserved: U32<O>,
        /// CRC-32 (IEEE) of the header up to here and of the strings
        header_crc: U32<O>,
        /// P3_RAW_LOST, P3_RAW_APART, P3_RAW_UNSAVED
        flags: U32<O>,
        /// how often counts were set aside, to be counted no more or in another file: the present epoch
        epoch: U32<O>,
        /// length of the file, at least; grows before a block becomes valid
        file_size: U64<O>,
        /// number of processes that were started and counted here
        runs: U64<O>,
        /// number of forked children that did, which began inside the functions of their parents
        children: U64<O>,
        /// how many of both ended normally, in their only thread
        ended: U64<O>,
        /// of a pool: the process that counts here, or did last
        owner: U64<O>,
        /// when that began, as in /proc/PID/stat
        owner_start: U64<O>,
        /// its name space of process ids
        owner_space: U64<O>,
        /// random, of the program that it ran: not the same after exec
        owner_image: U64<O>,
        /// number of forked children, and of theirs, whose counts are in no file, or not yet
        absent: U64<O>,
    }

    /// At multiples of the page. A page that begins with zeros instead was reserved and never used.
    Block BLOCK "p3_raw_block" {
        /// P3_BLOCK_MAGIC, written last
        magic: U64<O>,
        /// with this header; a multiple of the page
        size: U64<O>,
        /// P3_BLOCK_MODULE, P3_BLOCK_ARENA, P3_BLOCK_STARTED, P3_BLOCK_SAMPLE, P3_BLOCK_BURST, P3_BLOCK_SHADOWS, P3_BLOCK_PAST
        kind: U32<O>,
        /// module: its number in the manifest; arena: its number in the file; past: that of the block that it is about
        module: U32<O>,
        /// module: number of function records, which follow this header; past: the kind of the block that it is about
        n_functions: U64<O>,
        /// module: where the counters are in the block, a multiple of the page; past: where the first of two areas is
        counters_offset: U64<O>,
        /// module: number of counters, of 8 bytes; past: the same of an area
        n_counters: U64<O>,
        /// arena: how much of it, from its beginning, chunks were cut from
        used: U64<O>,
        /// 0
        reserved2: U32<O>,
        /// CRC-32 of size … n_counters and of the records
        crc: U32<O>,
    }

    /// Counters of one kind of one function, in a module's block.
    Function FUNCTION "p3_raw_function" {
        /// its number in the manifest
        func: U32<O>,
        /// P3_ARRAY, P3_HASH, P3_ENTRIES, P3_HITS
        kind: U32<O>,
        /// P3_ARRAY, P3_HASH: one more than the largest id; P3_ENTRIES, P3_HITS: 1
        size: U64<O>,
        /// index of the first counter; P3_HASH: 0
        first: U64<O>,
    }

    /// In an arena's block, at multiples of P3_CHUNK_ALIGN behind its header: a level of a hash table. Zeros: reserved and never used.
    Chunk CHUNK "p3_raw_chunk" {
        /// P3_CHUNK_MAGIC, written last
        magic: U64<O>,
        /// function: its number in the manifest
        func: U32<O>,
        /// level of the function's table
        level: U32<O>,
        /// number of slots, which follow this header
        slots: U64<O>,
        /// one more than the largest id
        size: U64<O>,
        /// 0
        reserved: [U64<O>; 3],
        /// 0
        reserved2: U32<O>,
        /// CRC-32 of func … size
        crc: U32<O>,
    }

    /// In a block of its kind, behind the header: processes that were started alike. Their arguments and the working folder follow, each ended by a zero, up to a multiple of 8.
    Started STARTED_RECORD "p3_raw_started" {
        /// FNV-1a (64 bits) of the text and of arguments … process, or 1 where that is 0; written last; 0: no more in this block
        key: U64<O>,
        /// number of those that were started
        runs: U64<O>,
        /// number of forked children, which have the arguments of their parents
        children: U64<O>,
        /// how many of both ended normally
        ended: U64<O>,
        /// number of arguments, the program's name included
        arguments: U32<O>,
        /// size of the text
        text_size: U32<O>,
        /// P3_RAW_ARGUMENTS_CUT, P3_RAW_ARGUMENTS_UNKNOWN
        process: U32<O>,
        /// 0
        reserved: U32<O>,
    }

    /// In a block of its kind, behind the header: a sample of subpaths, a concise or a counting one after Gibbons & Matias. Two areas follow, at P3_SAMPLE_AREAS.
    Sample SAMPLE_HEADER "p3_raw_sample" {
        /// the mean number of blocks from one beginning of a sample to the next, at first
        period: U64<O>,
        /// size of each area
        area: U64<O>,
        /// P3_WITHIN: subpaths are those of each activation by itself; P3_COUNTING: it is a counting sample
        flags: U32<O>,
        /// number of lengths
        n_lengths: U32<O>,
        /// in blocks, ascending
        lengths: [U64<O>; 16],
        /// how many of 2^32 samples have each
        chances: [U64<O>; 16],
        /// 0
        reserved: U32<O>,
        /// CRC-32 of all above
        crc: U32<O>,
        /// bit 0: the area that holds the sample; 31 bits: how often the threshold was doubled, and with it the period of a concise sample; above: how often the list was emptied
        state: U64<O>,
        /// of each area, how many bytes hold entries
        used: [U64<O>; 2],
        /// executed blocks, estimated: each beginning of a sample adds the period that it was drawn with
        blocks: U64<O>,
        /// the same of samples that were begun while too many others were under way, and not recorded
        crowded: U64<O>,
        /// how many were too long for the list
        long_ones: U64<O>,
    }

    /// An entry of an area, at a multiple of 4. The subpath follows.
    Entry ENTRY "p3_raw_subpath" {
        /// number of its sample points; in a counting sample of those since it is listed
        count: U32<O>,
        /// size of what follows, below 2^16; above: which length it has
        size: U32<O>,
    }

    /// In a block of its kind, behind the header: a burst. Its paths follow, then its system calls.
    Burst BURST_RECORD "p3_raw_burst" {
        /// CRC-32 of all that follows, paths and calls included
        crc: U32<O>,
        /// P3_END_BURST and its like
        why: U32<O>,
        /// P3_END_CALL: its number; P3_END_SIGNAL: the signal
        detail: U32<O>,
        /// number of records of system calls
        n_calls: U32<O>,
        /// size of the block without what fills its last page
        size: U64<O>,
        /// number of records of paths
        n_paths: U64<O>,
        /// instructions that were counted, as the input module has them
        instructions: U64<O>,
        /// processor time that counting it took
        nanoseconds: U64<O>,
        /// processor time that the program itself takes for the same, in nanoseconds, estimated; not 0
        native: U64<O>,
        /// 1: a twin found that out; 0: it is what counting took, of which others tell how much is the program's
        timed: U64<O>,
        /// the thread that was forked
        thread: U64<O>,
        /// what the burst stands for: processor time of the program from one burst to the next, on average, in nanoseconds; not 0
        period: U64<O>,
    }

    /// How often a path ran in a burst.
    BurstPath PATH_RECORD "p3_raw_path" {
        /// function: its number in the manifest
        func: U32<O>,
        /// 0
        reserved: U32<O>,
        /// the path's id in the copy
        id: U64<O>,
        /// how often it ran
        count: U64<O>,
    }

    /// What was done about a system call in a burst.
    BurstCall CALL_RECORD "p3_raw_call" {
        /// its number; 512: a larger one
        number: U32<O>,
        /// P3_CALL_ALLOWED and its like
        treatment: U32<O>,
        /// how often
        count: U64<O>,
    }

    /// In a block of its kind, behind the header: all shadows of a process. It changes while the process runs.
    Shadows SHADOWS_RECORD "p3_raw_shadows" {
        /// length of a burst, in instructions; 0: from 10 to 100 million, as cost and load have room for
        burst: U64<O>,
        /// shadows at a time, in thousandths
        load: U64<O>,
        /// number of shadows that were forked
        started: U64<O>,
        /// how many left a record
        handed_over: U64<O>,
        /// how many had no room for it
        not_written: U64<O>,
        /// how often a fork failed
        not_forked: U64<O>,
        /// how often enough shadows were there
        busy: U64<O>,
        /// how often too little memory was
        short_of_memory: U64<O>,
        /// nanoseconds that the last one took, had it been as long as is asked for (10 million instructions, or `burst`)
        last_took: U64<O>,
        /// why no shadow can be: P3_END_TEXT, P3_END_FILTER; 0: they can
        impossible: U64<O>,
        /// what shadows may cost the program, in millionths of its processor time
        cost: U64<O>,
        /// what they did cost, measured, in nanoseconds of processor time
        spent: U64<O>,
        /// the program's processor time when that was said, in nanoseconds
        time: U64<O>,
        /// nanoseconds that all shadows took that are over
        lived: U64<O>,
        /// why there are none any more while the program runs: 1: it filters its system calls; 2: it uses the signal of their timer; 0: they go on
        ended: U64<O>,
    }

    /// A slot of a hash table.
    Slot SLOT "p3_slot" {
        /// of a path id, see P3_HASH_FACTOR; 0: empty
        key: U64<O>,
        /// how often that path ran
        count: U64<O>,
    }
}

/// The bytes of a header that its checksum is of.
pub const HEADER_CHECKED: Range<usize> = 0..offset_of!(Header<LE>, header_crc);
/// The same of a block, where those of its records follow.
pub const BLOCK_CHECKED: Range<usize> = offset_of!(Block<LE>, size)..offset_of!(Block<LE>, used);
/// The same of a sample.
pub const SAMPLE_CHECKED: Range<usize> = 0..offset_of!(Sample<LE>, crc);
/// The same of a chunk.
pub const CHUNK_CHECKED: Range<usize> =
    offset_of!(Chunk<LE>, func)..offset_of!(Chunk<LE>, reserved);
