//! The raw profile, as it is in a file: `docs/RAW_FORMAT.md` explains it.

use super::{Field, Struct, Type, constants};
use std::mem::offset_of;
use std::ops::Range;
use zerocopy::byteorder::{ByteOrder, LE, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

constants! {
    /// First bytes of a file: \xff p3raw \xff and the version. It also tells the byte order.
    MAGIC "P3_RAW_MAGIC": u64 = 0xff70_3372_6177_ff07;
    /// First bytes of a block: p3block and a version.
    BLOCK_MAGIC "P3_BLOCK_MAGIC": u64 = 0x7033_626c_6f63_6b03;
    /// In a block that is being written: many bits differ from what stands there later.
    BLOCK_BEGUN "P3_BLOCK_BEGUN": u64 = 0x7033_6265_6775_6e5a;
    /// First bytes of a chunk: p3chunk and a version.
    CHUNK_MAGIC "P3_CHUNK_MAGIC": u64 = 0x7033_6368_756e_6b03;
    /// The version of the format.
    VERSION "P3_RAW_VERSION": u32 = 12;
    /// Flag: counts were lost, because there was no memory or space.
    LOST "P3_RAW_LOST": u32 = 1;
    /// Flag: the program resets its counts (p3_profile_reset), so no other process takes the file over.
    APART "P3_RAW_APART": u32 = 2;
    /// Flag: counts are in memory until the process ends normally. If it was killed, they are lost.
    UNSAVED "P3_RAW_UNSAVED": u32 = 4;
    /// Flag: a process that counted here had a second thread; with P3_UPDATE_BY_THREAD, one without counters of its
    /// own.
    THREADS "P3_RAW_THREADS": u32 = 8;
    /// Flag: a process that counts here, or was killed, may have started threads unseen.
    UNSEEN "P3_RAW_UNSEEN": u32 = 16;
    /// Flag: for a process that counts here, or was killed, the C library may have started threads by itself
    /// (SIGEV_THREAD).
    INSIDE "P3_RAW_INSIDE": u32 = 32;
    /// In `update`: counts are plain increments.
    UPDATE_SINGLE "P3_UPDATE_SINGLE": u32 = 0;
    /// In `update`: counts are updated atomically.
    UPDATE_ATOMIC "P3_UPDATE_ATOMIC": u32 = 1;
    /// In `update`: counts are plain increments of counters that each thread has for itself.
    UPDATE_BY_THREAD "P3_UPDATE_BY_THREAD": u32 = 2;
    /// In `process`: only the first P3_RAW_ARGUMENTS_MAX bytes of the arguments are stored.
    ARGUMENTS_CUT "P3_RAW_ARGUMENTS_CUT": u32 = 1;
    /// In `process`: the arguments are not known.
    ARGUMENTS_UNKNOWN "P3_RAW_ARGUMENTS_UNKNOWN": u32 = 2;
    /// Most bytes of arguments, their zeros included.
    ARGUMENTS_MAX "P3_RAW_ARGUMENTS_MAX": u32 = 1 << 15;
    /// Block: counters of a module.
    MODULE "P3_BLOCK_MODULE": u32 = 1;
    /// Block: an arena, which contains chunks of hash tables.
    ARENA "P3_BLOCK_ARENA": u32 = 2;
    /// Block: how processes of a pool were started.
    STARTED "P3_BLOCK_STARTED": u32 = 3;
    /// Block: a sample of subpaths.
    SAMPLE "P3_BLOCK_SAMPLE": u32 = 4;
    /// Offset of the two areas of a sample in its block.
    SAMPLE_AREAS "P3_SAMPLE_AREAS": u32 = 512;
    /// Most lengths of subpaths.
    SAMPLE_LENGTHS "P3_SAMPLE_LENGTHS": u32 = 16;
    /// Subpaths of more blocks are written with repetitions.
    PLAIN_BLOCKS "P3_PLAIN_BLOCKS": u32 = 8;
    /// Longest distance of a repetition, in blocks.
    REPEAT_WINDOW "P3_REPEAT_WINDOW": u32 = 64;
    /// Most bytes of a sampled subpath.
    SUBPATH_MOST "P3_SUBPATH_MOST": u32 = 4096;
    /// Most bytes of text of a record in a P3_BLOCK_STARTED.
    STARTED_TEXT_MAX "P3_STARTED_TEXT_MAX": u32 = 1 << 12;
    /// Size of a P3_BLOCK_STARTED, or a page if that is larger.
    STARTED_SIZE "P3_STARTED_SIZE": u32 = 1 << 14;
    /// Most blocks of that kind in a file. Later processes with new arguments are counted and not described.
    STARTED_MOST "P3_STARTED_MOST": u32 = 64;
    /// Block: counts of a burst.
    BURST "P3_BLOCK_BURST": u32 = 6;
    /// Block: numbers of all shadows.
    SHADOWS "P3_BLOCK_SHADOWS": u32 = 7;
    /// Block: baselines of the counters of another block.
    PAST "P3_BLOCK_PAST": u32 = 8;
    /// Block: what is known of the threads that counted at so many shifts.
    NAMES "P3_BLOCK_NAMES": u32 = 9;
    /// Block: counters of several modules, which are side by side.
    AREA "P3_BLOCK_AREA": u32 = 10;
    /// Number of records in a P3_BLOCK_NAMES.
    NAMES_IN_BLOCK "P3_NAMES_IN_BLOCK": u32 = 126;
    /// Most bytes of the name of a thread.
    NAME_MAX "P3_NAME_MAX": u32 = 16;
    /// Of a record in a P3_BLOCK_NAMES: the first thread of a process counted at its shift.
    NAME_FIRST "P3_NAME_FIRST": u32 = 1;
    /// A burst ended: its budget was used up.
    END_BURST "P3_END_BURST": u32 = 0;
    /// A burst ended: it took too long.
    END_TIME "P3_END_TIME": u32 = 1;
    /// A burst ended: by a system call that cannot be imitated.
    END_CALL "P3_END_CALL": u32 = 2;
    /// A burst ended: it waited for a lock of another thread.
    END_LOCK "P3_END_LOCK": u32 = 3;
    /// A burst ended: by a signal.
    END_SIGNAL "P3_END_SIGNAL": u32 = 4;
    /// A burst ended: the shadow's thread or program ended.
    END_EXIT "P3_END_EXIT": u32 = 5;
    /// A burst ended: the program ended.
    END_PARENT "P3_END_PARENT": u32 = 6;
    /// A burst ended: shared memory cannot be copied.
    END_SHARED "P3_END_SHARED": u32 = 7;
    /// A burst ended: there was no memory.
    END_MEMORY "P3_END_MEMORY": u32 = 8;
    /// A burst ended: the code is not writable.
    END_TEXT "P3_END_TEXT": u32 = 9;
    /// A burst ended: system calls cannot be filtered.
    END_FILTER "P3_END_FILTER": u32 = 10;
    /// A burst ended: by a jump to an address that several blocks have.
    END_JUMP "P3_END_JUMP": u32 = 11;
    /// A system call was made.
    CALL_ALLOWED "P3_CALL_ALLOWED": u32 = 0;
    /// A system call was not made; the shadow got success as its result.
    CALL_ASSUMED "P3_CALL_ASSUMED": u32 = 1;
    /// A system call was imitated.
    CALL_HANDLED "P3_CALL_HANDLED": u32 = 2;
    /// A system call ended the burst.
    CALL_ENDED "P3_CALL_ENDED": u32 = 3;
    /// Alignment of chunks.
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
        /// size of this header
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
        /// alignment of blocks
        page: U64<O>,
        /// P3_UPDATE_SINGLE, P3_UPDATE_ATOMIC, P3_UPDATE_BY_THREAD
        update: U32<O>,
        /// number of arguments, the program's name included
        arguments: U32<O>,
        /// size of the strings behind this header
        text_size: U32<O>,
        /// what is missing of the process: P3_RAW_ARGUMENTS_CUT, P3_RAW_ARGUMENTS_UNKNOWN
        process: U32<O>,
        /// of a pool (%m): the system's boot id, since processes of this boot may add to the file; zeros: no other
        /// process does
        boot: [u8; 16],
        /// 0
        reserved: U32<O>,
        /// CRC-32 (IEEE) of the header up to here and of the strings
        header_crc: U32<O>,
        /// P3_RAW_LOST, P3_RAW_APART, P3_RAW_UNSAVED, P3_RAW_THREADS, P3_RAW_UNSEEN, P3_RAW_INSIDE
        flags: U32<O>,
        /// number of resets and rotations so far
        epoch: U32<O>,
        /// length of the file, at least; grows before a block becomes valid
        file_size: U64<O>,
        /// number of processes that were started and counted here
        runs: U64<O>,
        /// number of forked children that counted here; they start inside the functions of their parents
        children: U64<O>,
        /// processes and children that ended normally, in their only thread
        ended: U64<O>,
        /// of a pool: id of the process that counts here, or of the last one
        owner: U64<O>,
        /// start time of that process, as in /proc/PID/stat
        owner_start: U64<O>,
        /// its namespace of process ids
        owner_space: U64<O>,
        /// random number of the program that it ran; exec changes it
        owner_image: U64<O>,
        /// number of descendants whose counts are in no file, or not yet
        absent: U64<O>,
        /// of the children, those that ended normally
        children_ended: U64<O>,
        /// processes and children that ended normally while other threads ran, each of which had counters of its own
        ended_with_threads: U64<O>,
    }

    /// At multiples of the page. A page that begins with zeros instead was reserved and never used.
    Block BLOCK "p3_raw_block" {
        /// P3_BLOCK_MAGIC, written last
        magic: U64<O>,
        /// size with this header; a multiple of the page
        size: U64<O>,
        /// P3_BLOCK_MODULE, P3_BLOCK_ARENA, P3_BLOCK_STARTED, P3_BLOCK_SAMPLE, P3_BLOCK_BURST, P3_BLOCK_SHADOWS,
        /// P3_BLOCK_PAST, P3_BLOCK_NAMES, P3_BLOCK_AREA
        kind: U32<O>,
        /// module: its number in the manifest; area: that of its first module; arena: its number in the file; past:
        /// number of the block that the baseline belongs to; names: how many blocks of that kind come before
        module: U32<O>,
        /// module: number of function records, which follow this header; area: number of modules; past: kind of that
        /// block
        n_functions: U64<O>,
        /// module, area: offset of the counters in the block, a multiple of the page; past: offset of the first of two
        /// areas
        counters_offset: U64<O>,
        /// module, area: number of counters, of 8 bytes; past: number of counters of an area
        n_counters: U64<O>,
        /// arena: bytes from its beginning that were given to chunks; module, area: 0, or P3_BLOCK_BEGUN while it is being
        /// written
        used: U64<O>,
        /// module, area: number of the distance at which a thread's counters were, 0 for the first thread's; past: that
        /// of the block that the baseline belongs to
        shift: U32<O>,
        /// CRC-32 of size … n_counters, of the records (area: of the modules' checksums), and of the shift unless it is 0
        crc: U32<O>,
    }

    /// Counters of one kind of one function, in a module's block.
    Function FUNCTION "p3_raw_function" {
        /// its number in the manifest
        func: U32<O>,
        /// P3_ARRAY, P3_HASH, P3_ENTRIES, P3_HITS, P3_FORKS
        kind: U32<O>,
        /// P3_ARRAY, P3_HASH: one more than the largest id; P3_ENTRIES, P3_HITS: 1; P3_FORKS: 3 and one for each block
        size: U64<O>,
        /// index of the first counter; P3_HASH: 0
        first: U64<O>,
    }

    /// In an arena's block, at multiples of P3_CHUNK_ALIGN behind its header: a level of a hash table. Zeros: reserved
    /// and never used.
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
        /// number of the distance at which the thread that counts here has its counters, 0 for the first thread
        shift: U32<O>,
        /// CRC-32 of func … size, and of the shift unless it is 0
        crc: U32<O>,
    }

    /// In a block of its kind, behind the header, by number of the shift: the threads that counted there, one after the
    /// other. It changes while the process runs.
    Name NAME_RECORD "p3_raw_name" {
        /// number of threads that were started to count there
        threads: U32<O>,
        /// P3_NAME_FIRST
        flags: U32<O>,
        /// number of threads that took the name that follows
        named: U32<O>,
        /// how often a thread took another one
        others: U32<O>,
        /// the first name that one of them took, ended by a zero if it is shorter; zeros: none has one
        name: [u8; 16],
    }

    /// In a block of its kind, behind the header: processes that were started alike. Their arguments and the working
    /// folder follow, each ended by a zero, up to a multiple of 8.
    Started STARTED_RECORD "p3_raw_started" {
        /// FNV-1a (64 bits) of the text and of arguments … process, or 1 if that is 0; written last; 0: the last record
        /// of this block was before
        key: U64<O>,
        /// number of processes that were started
        runs: U64<O>,
        /// number of forked children, which have the arguments of their parents
        children: U64<O>,
        /// processes and children that ended normally
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

    /// In a block of its kind, behind the header: a sample of subpaths, a concise or a counting one after Gibbons &
    /// Matias. Two areas follow, at P3_SAMPLE_AREAS.
    Sample SAMPLE_HEADER "p3_raw_sample" {
        /// mean number of blocks between beginnings of samples, at first
        period: U64<O>,
        /// size of an area
        area: U64<O>,
        /// P3_WITHIN: subpaths of each activation without callees; P3_COUNTING: it is a counting sample
        flags: U32<O>,
        /// number of lengths
        n_lengths: U32<O>,
        /// in blocks, ascending
        lengths: [U64<O>; 16],
        /// of 2^32 samples, how many have each length
        chances: [U64<O>; 16],
        /// 0
        reserved: U32<O>,
        /// CRC-32 of all above
        crc: U32<O>,
        /// bit 0: the area that holds the sample; bits 1 to 31: doublings of the threshold, and of the period of a
        /// concise sample; above: how often the list was emptied
        state: U64<O>,
        /// bytes of entries in each area
        used: [U64<O>; 2],
        /// executed blocks, estimated: each beginning of a sample adds its period
        blocks: U64<O>,
        /// the same sum of samples that were not recorded, because too many others were
        crowded: U64<O>,
        /// number of samples that were too long for the list
        long_ones: U64<O>,
    }

    /// An entry of an area, at a multiple of 4. The subpath follows.
    Entry ENTRY "p3_raw_subpath" {
        /// number of its sample points; in a counting sample, of the points since it was listed
        count: U32<O>,
        /// lower 16 bits: size of the subpath that follows; upper: index of its length
        size: U32<O>,
    }

    /// In a block of its kind, behind the header: a burst. Its paths follow, then its system calls.
    Burst BURST_RECORD "p3_raw_burst" {
        /// CRC-32 of all that follows, paths and calls included
        crc: U32<O>,
        /// why the burst ended: P3_END_…
        why: U32<O>,
        /// P3_END_CALL: the number of the call; P3_END_SIGNAL: the signal
        detail: U32<O>,
        /// number of records of system calls
        n_calls: U32<O>,
        /// size of the block without the padding of its last page
        size: U64<O>,
        /// number of records of paths
        n_paths: U64<O>,
        /// counted instructions of the input module
        instructions: U64<O>,
        /// processor time of counting, in nanoseconds
        nanoseconds: U64<O>,
        /// processor time that the program takes for the burst, in nanoseconds, estimated; not 0
        native: U64<O>,
        /// 1: `native` was measured by a twin; 0: it is the time of counting, to be scaled by timed bursts
        timed: U64<O>,
        /// the thread that was forked
        thread: U64<O>,
        /// mean processor time of the program between bursts, in nanoseconds: the time that the burst stands for; not 0
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
        /// number of the system call; 512: a larger one
        number: U32<O>,
        /// P3_CALL_…
        treatment: U32<O>,
        /// number of calls
        count: U64<O>,
    }

    /// In a block of its kind, behind the header: all shadows of a process. It changes while the process runs.
    Shadows SHADOWS_RECORD "p3_raw_shadows" {
        /// length of a burst, in instructions; 0: from 10 to 100 million, as cost and load permit
        burst: U64<O>,
        /// shadows at a time, in thousandths
        load: U64<O>,
        /// number of shadows that were forked
        started: U64<O>,
        /// number of shadows that left a record
        handed_over: U64<O>,
        /// number of shadows without space for a record
        not_written: U64<O>,
        /// number of failed forks
        not_forked: U64<O>,
        /// number of shadows left out because enough ran
        busy: U64<O>,
        /// number of shadows left out because memory was short
        short_of_memory: U64<O>,
        /// nanoseconds of the last shadow, scaled to `burst` (or 10 million instructions)
        last_took: U64<O>,
        /// why there can be no shadow: P3_END_TEXT, P3_END_FILTER; 0: there can
        impossible: U64<O>,
        /// limit of the cost of shadows, in millionths of the program's processor time
        cost: U64<O>,
        /// measured cost of shadows, in nanoseconds of processor time
        spent: U64<O>,
        /// the program's processor time when `spent` was written, in nanoseconds
        time: U64<O>,
        /// nanoseconds of all shadows that have ended
        lived: U64<O>,
        /// why shadows ended for good: 1: the program filters its system calls; 2: it uses the timer's signal; 0: they
        /// continue
        ended: U64<O>,
    }

    /// A slot of a hash table.
    Slot SLOT "p3_slot" {
        /// key of a path id, see P3_HASH_FACTOR; 0: empty
        key: U64<O>,
        /// how often that path ran
        count: U64<O>,
    }
}

/// The bytes of a [`Header`] whose checksum is `header_crc`.
pub const HEADER_CHECKED: Range<usize> = 0..offset_of!(Header<LE>, header_crc);
/// The bytes of a [`Block`] that its checksum begins with; the bytes of its records follow.
pub const BLOCK_CHECKED: Range<usize> = offset_of!(Block<LE>, size)..offset_of!(Block<LE>, used);
/// The bytes of a [`Sample`] whose checksum is `crc`.
pub const SAMPLE_CHECKED: Range<usize> = 0..offset_of!(Sample<LE>, crc);
/// The bytes of a [`Chunk`] whose checksum it stores.
pub const CHUNK_CHECKED: Range<usize> =
    offset_of!(Chunk<LE>, func)..offset_of!(Chunk<LE>, reserved);
