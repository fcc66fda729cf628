// SPDX-License-Identifier: MIT OR Apache-2.0
/* The raw profile (docs/RAW_FORMAT.md). All numbers are in the byte order of the machine that wrote them.
 * The file is valid at any moment: counters and hash tables are mapped, the process may be killed. Written
 * by src/runtime/generate.rs. */
#ifndef P3_FORMAT_H
#define P3_FORMAT_H

#include <stdint.h>

/* First bytes of a file: \xff p3raw \xff and the version. It also tells the byte order. */
#define P3_RAW_MAGIC UINT64_C(0xff7033726177ff07)
#define P3_BLOCK_MAGIC UINT64_C(0x7033626c6f636b03) /* First bytes of a block: p3block and a version. */
/* In a block that is being written: many bits differ from what stands there later. */
#define P3_BLOCK_BEGUN UINT64_C(0x7033626567756e5a)
#define P3_CHUNK_MAGIC UINT64_C(0x70336368756e6b03) /* First bytes of a chunk: p3chunk and a version. */
#define P3_RAW_VERSION 12u /* The version of the format. */
#define P3_RAW_LOST 1u /* Flag: counts were lost, because there was no memory or space. */
/* Flag: the program resets its counts (p3_profile_reset), so no other process takes the file over. */
#define P3_RAW_APART 2u
/* Flag: counts are in memory until the process ends normally. If it was killed, they are lost. */
#define P3_RAW_UNSAVED 4u
/* Flag: a process that counted here had a second thread; with P3_UPDATE_BY_THREAD, one without counters of
 * its own. */
#define P3_RAW_THREADS 8u
/* Flag: a process that counts here, or was killed, may have started threads unseen. */
#define P3_RAW_UNSEEN 16u
/* Flag: for a process that counts here, or was killed, the C library may have started threads by itself
 * (SIGEV_THREAD). */
#define P3_RAW_INSIDE 32u
#define P3_UPDATE_SINGLE 0u /* In `update`: counts are plain increments. */
#define P3_UPDATE_ATOMIC 1u /* In `update`: counts are updated atomically. */
/* In `update`: counts are plain increments of counters that each thread has for itself. */
#define P3_UPDATE_BY_THREAD 2u
/* In `process`: only the first P3_RAW_ARGUMENTS_MAX bytes of the arguments are stored. */
#define P3_RAW_ARGUMENTS_CUT 1u
#define P3_RAW_ARGUMENTS_UNKNOWN 2u /* In `process`: the arguments are not known. */
#define P3_RAW_ARGUMENTS_MAX 32768u /* Most bytes of arguments, their zeros included. */
#define P3_BLOCK_MODULE 1u /* Block: counters of a module. */
#define P3_BLOCK_ARENA 2u /* Block: an arena, which contains chunks of hash tables. */
#define P3_BLOCK_STARTED 3u /* Block: how processes of a pool were started. */
#define P3_BLOCK_SAMPLE 4u /* Block: a sample of subpaths. */
#define P3_SAMPLE_AREAS 512u /* Offset of the two areas of a sample in its block. */
#define P3_SAMPLE_LENGTHS 16u /* Most lengths of subpaths. */
#define P3_PLAIN_BLOCKS 8u /* Subpaths of more blocks are written with repetitions. */
#define P3_REPEAT_WINDOW 64u /* Longest distance of a repetition, in blocks. */
#define P3_SUBPATH_MOST 4096u /* Most bytes of a sampled subpath. */
#define P3_STARTED_TEXT_MAX 4096u /* Most bytes of text of a record in a P3_BLOCK_STARTED. */
#define P3_STARTED_SIZE 16384u /* Size of a P3_BLOCK_STARTED, or a page if that is larger. */
/* Most blocks of that kind in a file. Later processes with new arguments are counted and not described. */
#define P3_STARTED_MOST 64u
#define P3_BLOCK_BURST 6u /* Block: counts of a burst. */
#define P3_BLOCK_SHADOWS 7u /* Block: numbers of all shadows. */
#define P3_BLOCK_PAST 8u /* Block: baselines of the counters of another block. */
#define P3_BLOCK_NAMES 9u /* Block: what is known of the threads that counted at so many shifts. */
#define P3_BLOCK_AREA 10u /* Block: counters of several modules, which are side by side. */
#define P3_NAMES_IN_BLOCK 126u /* Number of records in a P3_BLOCK_NAMES. */
#define P3_NAME_MAX 16u /* Most bytes of the name of a thread. */
/* Of a record in a P3_BLOCK_NAMES: the first thread of a process counted at its shift. */
#define P3_NAME_FIRST 1u
#define P3_END_BURST 0u /* A burst ended: its budget was used up. */
#define P3_END_TIME 1u /* A burst ended: it took too long. */
#define P3_END_CALL 2u /* A burst ended: by a system call that cannot be imitated. */
#define P3_END_LOCK 3u /* A burst ended: it waited for a lock of another thread. */
#define P3_END_SIGNAL 4u /* A burst ended: by a signal. */
#define P3_END_EXIT 5u /* A burst ended: the shadow's thread or program ended. */
#define P3_END_PARENT 6u /* A burst ended: the program ended. */
#define P3_END_SHARED 7u /* A burst ended: shared memory cannot be copied. */
#define P3_END_MEMORY 8u /* A burst ended: there was no memory. */
#define P3_END_TEXT 9u /* A burst ended: the code is not writable. */
#define P3_END_FILTER 10u /* A burst ended: system calls cannot be filtered. */
#define P3_END_JUMP 11u /* A burst ended: by a jump to an address that several blocks have. */
#define P3_CALL_ALLOWED 0u /* A system call was made. */
#define P3_CALL_ASSUMED 1u /* A system call was not made; the shadow got success as its result. */
#define P3_CALL_HANDLED 2u /* A system call was imitated. */
#define P3_CALL_ENDED 3u /* A system call ended the burst. */
#define P3_CHUNK_ALIGN 64u /* Alignment of chunks. */

/* At offset 0. Strings follow. Blocks begin at the next multiple of the page. */
struct p3_raw_header {
    uint64_t magic; /* P3_RAW_MAGIC */
    uint32_t version; /* P3_RAW_VERSION */
    uint32_t header_size; /* size of this header */
    uint8_t program[16]; /* the rewriting: `program` of manifest.json */
    uint8_t unique[16]; /* random; no other file has it */
    uint32_t copy; /* which copy */
    uint32_t copies; /* number of copies */
    uint64_t pid; /* id of the process that made the file */
    uint64_t parent; /* process id of its parent */
    uint64_t page; /* alignment of blocks */
    uint32_t update; /* P3_UPDATE_SINGLE, P3_UPDATE_ATOMIC, P3_UPDATE_BY_THREAD */
    uint32_t arguments; /* number of arguments, the program's name included */
    uint32_t text_size; /* size of the strings behind this header */
    uint32_t process; /* what is missing of the process: P3_RAW_ARGUMENTS_CUT, P3_RAW_ARGUMENTS_UNKNOWN */
    /* of a pool (%m): the system's boot id, since processes of this boot may add to the file; zeros: no
     * other process does */
    uint8_t boot[16];
    uint32_t reserved; /* 0 */
    uint32_t header_crc; /* CRC-32 (IEEE) of the header up to here and of the strings */
    /* P3_RAW_LOST, P3_RAW_APART, P3_RAW_UNSAVED, P3_RAW_THREADS, P3_RAW_UNSEEN, P3_RAW_INSIDE */
    uint32_t flags;
    uint32_t epoch; /* number of resets and rotations so far */
    uint64_t file_size; /* length of the file, at least; grows before a block becomes valid */
    uint64_t runs; /* number of processes that were started and counted here */
    /* number of forked children that counted here; they start inside the functions of their parents */
    uint64_t children;
    uint64_t ended; /* processes and children that ended normally, in their only thread */
    uint64_t owner; /* of a pool: id of the process that counts here, or of the last one */
    uint64_t owner_start; /* start time of that process, as in /proc/PID/stat */
    uint64_t owner_space; /* its namespace of process ids */
    uint64_t owner_image; /* random number of the program that it ran; exec changes it */
    uint64_t absent; /* number of descendants whose counts are in no file, or not yet */
    uint64_t children_ended; /* of the children, those that ended normally */
    /* processes and children that ended normally while other threads ran, each of which had counters of
     * its own */
    uint64_t ended_with_threads;
};

/* At multiples of the page. A page that begins with zeros instead was reserved and never used. */
struct p3_raw_block {
    uint64_t magic; /* P3_BLOCK_MAGIC, written last */
    uint64_t size; /* size with this header; a multiple of the page */
    /* P3_BLOCK_MODULE, P3_BLOCK_ARENA, P3_BLOCK_STARTED, P3_BLOCK_SAMPLE, P3_BLOCK_BURST,
     * P3_BLOCK_SHADOWS, P3_BLOCK_PAST, P3_BLOCK_NAMES, P3_BLOCK_AREA */
    uint32_t kind;
    /* module: its number in the manifest; area: that of its first module; arena: its number in the file;
     * past: number of the block that the baseline belongs to; names: how many blocks of that kind come
     * before */
    uint32_t module;
    /* module: number of function records, which follow this header; area: number of modules; past: kind of
     * that block */
    uint64_t n_functions;
    /* module, area: offset of the counters in the block, a multiple of the page; past: offset of the first
     * of two areas */
    uint64_t counters_offset;
    /* module, area: number of counters, of 8 bytes; past: number of counters of an area */
    uint64_t n_counters;
    /* arena: bytes from its beginning that were given to chunks; module, area: 0, or P3_BLOCK_BEGUN while
     * it is being written */
    uint64_t used;
    /* module, area: number of the distance at which a thread's counters were, 0 for the first thread's;
     * past: that of the block that the baseline belongs to */
    uint32_t shift;
    /* CRC-32 of size … n_counters, of the records (area: of the modules' checksums), and of the shift
     * unless it is 0 */
    uint32_t crc;
};

/* Counters of one kind of one function, in a module's block. */
struct p3_raw_function {
    uint32_t func; /* its number in the manifest */
    uint32_t kind; /* P3_ARRAY, P3_HASH, P3_ENTRIES, P3_HITS, P3_FORKS */
    /* P3_ARRAY, P3_HASH: one more than the largest id; P3_ENTRIES, P3_HITS: 1; P3_FORKS: 3 and one for
     * each block */
    uint64_t size;
    uint64_t first; /* index of the first counter; P3_HASH: 0 */
};

/* In an arena's block, at multiples of P3_CHUNK_ALIGN behind its header: a level of a hash table. Zeros:
 * reserved and never used. */
struct p3_raw_chunk {
    uint64_t magic; /* P3_CHUNK_MAGIC, written last */
    uint32_t func; /* function: its number in the manifest */
    uint32_t level; /* level of the function's table */
    uint64_t slots; /* number of slots, which follow this header */
    uint64_t size; /* one more than the largest id */
    uint64_t reserved[3]; /* 0 */
    /* number of the distance at which the thread that counts here has its counters, 0 for the first thread */
    uint32_t shift;
    uint32_t crc; /* CRC-32 of func … size, and of the shift unless it is 0 */
};

/* In a block of its kind, behind the header, by number of the shift: the threads that counted there, one
 * after the other. It changes while the process runs. */
struct p3_raw_name {
    uint32_t threads; /* number of threads that were started to count there */
    uint32_t flags; /* P3_NAME_FIRST */
    uint32_t named; /* number of threads that took the name that follows */
    uint32_t others; /* how often a thread took another one */
    /* the first name that one of them took, ended by a zero if it is shorter; zeros: none has one */
    uint8_t name[16];
};

/* In a block of its kind, behind the header: processes that were started alike. Their arguments and the
 * working folder follow, each ended by a zero, up to a multiple of 8. */
struct p3_raw_started {
    /* FNV-1a (64 bits) of the text and of arguments … process, or 1 if that is 0; written last; 0: the
     * last record of this block was before */
    uint64_t key;
    uint64_t runs; /* number of processes that were started */
    uint64_t children; /* number of forked children, which have the arguments of their parents */
    uint64_t ended; /* processes and children that ended normally */
    uint32_t arguments; /* number of arguments, the program's name included */
    uint32_t text_size; /* size of the text */
    uint32_t process; /* P3_RAW_ARGUMENTS_CUT, P3_RAW_ARGUMENTS_UNKNOWN */
    uint32_t reserved; /* 0 */
};

/* In a block of its kind, behind the header: a sample of subpaths, a concise or a counting one after
 * Gibbons & Matias. Two areas follow, at P3_SAMPLE_AREAS. */
struct p3_raw_sample {
    uint64_t period; /* mean number of blocks between beginnings of samples, at first */
    uint64_t area; /* size of an area */
    /* P3_WITHIN: subpaths of each activation without callees; P3_COUNTING: it is a counting sample */
    uint32_t flags;
    uint32_t n_lengths; /* number of lengths */
    uint64_t lengths[16]; /* in blocks, ascending */
    uint64_t chances[16]; /* of 2^32 samples, how many have each length */
    uint32_t reserved; /* 0 */
    uint32_t crc; /* CRC-32 of all above */
    /* bit 0: the area that holds the sample; bits 1 to 31: doublings of the threshold, and of the period
     * of a concise sample; above: how often the list was emptied */
    uint64_t state;
    uint64_t used[2]; /* bytes of entries in each area */
    uint64_t blocks; /* executed blocks, estimated: each beginning of a sample adds its period */
    uint64_t crowded; /* the same sum of samples that were not recorded, because too many others were */
    uint64_t long_ones; /* number of samples that were too long for the list */
};

/* An entry of an area, at a multiple of 4. The subpath follows. */
struct p3_raw_subpath {
    /* number of its sample points; in a counting sample, of the points since it was listed */
    uint32_t count;
    uint32_t size; /* lower 16 bits: size of the subpath that follows; upper: index of its length */
};

/* In a block of its kind, behind the header: a burst. Its paths follow, then its system calls. */
struct p3_raw_burst {
    uint32_t crc; /* CRC-32 of all that follows, paths and calls included */
    uint32_t why; /* why the burst ended: P3_END_… */
    uint32_t detail; /* P3_END_CALL: the number of the call; P3_END_SIGNAL: the signal */
    uint32_t n_calls; /* number of records of system calls */
    uint64_t size; /* size of the block without the padding of its last page */
    uint64_t n_paths; /* number of records of paths */
    uint64_t instructions; /* counted instructions of the input module */
    uint64_t nanoseconds; /* processor time of counting, in nanoseconds */
    /* processor time that the program takes for the burst, in nanoseconds, estimated; not 0 */
    uint64_t native;
    /* 1: `native` was measured by a twin; 0: it is the time of counting, to be scaled by timed bursts */
    uint64_t timed;
    uint64_t thread; /* the thread that was forked */
    /* mean processor time of the program between bursts, in nanoseconds: the time that the burst stands
     * for; not 0 */
    uint64_t period;
};

/* How often a path ran in a burst. */
struct p3_raw_path {
    uint32_t func; /* function: its number in the manifest */
    uint32_t reserved; /* 0 */
    uint64_t id; /* the path's id in the copy */
    uint64_t count; /* how often it ran */
};

/* What was done about a system call in a burst. */
struct p3_raw_call {
    uint32_t number; /* number of the system call; 512: a larger one */
    uint32_t treatment; /* P3_CALL_… */
    uint64_t count; /* number of calls */
};

/* In a block of its kind, behind the header: all shadows of a process. It changes while the process runs. */
struct p3_raw_shadows {
    /* length of a burst, in instructions; 0: from 10 to 100 million, as cost and load permit */
    uint64_t burst;
    uint64_t load; /* shadows at a time, in thousandths */
    uint64_t started; /* number of shadows that were forked */
    uint64_t handed_over; /* number of shadows that left a record */
    uint64_t not_written; /* number of shadows without space for a record */
    uint64_t not_forked; /* number of failed forks */
    uint64_t busy; /* number of shadows left out because enough ran */
    uint64_t short_of_memory; /* number of shadows left out because memory was short */
    uint64_t last_took; /* nanoseconds of the last shadow, scaled to `burst` (or 10 million instructions) */
    uint64_t impossible; /* why there can be no shadow: P3_END_TEXT, P3_END_FILTER; 0: there can */
    uint64_t cost; /* limit of the cost of shadows, in millionths of the program's processor time */
    uint64_t spent; /* measured cost of shadows, in nanoseconds of processor time */
    uint64_t time; /* the program's processor time when `spent` was written, in nanoseconds */
    uint64_t lived; /* nanoseconds of all shadows that have ended */
    /* why shadows ended for good: 1: the program filters its system calls; 2: it uses the timer's signal;
     * 0: they continue */
    uint64_t ended;
};

#endif
