// SPDX-License-Identifier: MIT OR Apache-2.0
/* The raw profile (docs/RAW_FORMAT.md). All numbers are in the byte order of the machine that wrote them.
 * The file is valid at any moment: counters and hash tables are mapped, the process may be killed. Written
 * by src/runtime/generate.rs. */
#ifndef P3_FORMAT_H
#define P3_FORMAT_H

#include <stdint.h>

/* What a file begins with: \xff p3raw \xff and the version. Read in the other byte order it tells that. */
#define P3_RAW_MAGIC UINT64_C(0xff7033726177ff07)
#define P3_BLOCK_MAGIC UINT64_C(0x7033626c6f636b03) /* What a block begins with: p3block and a version. */
#define P3_CHUNK_MAGIC UINT64_C(0x70336368756e6b03) /* What a chunk begins with: p3chunk and a version. */
#define P3_RAW_VERSION 9u /* The version of the format. */
#define P3_RAW_LOST 1u /* In the flags: counts were lost, without memory or space. */
/* In the flags: the program sets its counts to zero (p3_profile_reset), so no other process adds to them. */
#define P3_RAW_APART 2u
/* In the flags: counts are in memory alone, until the process ends normally. One that was killed has lost
 * them. */
#define P3_RAW_UNSAVED 4u
/* Of the process: only the first P3_RAW_ARGUMENTS_MAX bytes of its arguments are there. */
#define P3_RAW_ARGUMENTS_CUT 1u
#define P3_RAW_ARGUMENTS_UNKNOWN 2u /* Of the process: the system did not tell its arguments. */
#define P3_RAW_ARGUMENTS_MAX 32768u /* The most bytes of arguments that are kept, their zeros included. */
#define P3_BLOCK_MODULE 1u /* Kind of a block: the counters of a module. */
#define P3_BLOCK_ARENA 2u /* Kind of a block: an arena, which holds chunks of hash tables. */
#define P3_BLOCK_STARTED 3u /* Kind of a block: how the processes of a pool's file were started. */
#define P3_BLOCK_SAMPLE 4u /* Kind of a block: a sample of subpaths. */
#define P3_SAMPLE_AREAS 512u /* Where the two areas of a sample begin in its block. */
#define P3_SAMPLE_LENGTHS 16u /* The most lengths of subpaths. */
#define P3_PLAIN_BLOCKS 8u /* Sampled subpaths of more blocks than this are written with repetitions. */
#define P3_REPEAT_WINDOW 64u /* How far back a repetition reaches, in blocks. */
#define P3_SUBPATH_MOST 4096u /* The most bytes that a sampled subpath is written in. */
#define P3_STARTED_TEXT_MAX 4096u /* The most bytes of text of one such record. */
#define P3_STARTED_SIZE 16384u /* The size of such a block, or a page if that is larger. */
/* The most such blocks of a file: processes that are started otherwise are counted and not described from
 * then on. */
#define P3_STARTED_MOST 64u
#define P3_BLOCK_BURST 6u /* Kind of a block: what a shadow counted in a burst. */
#define P3_BLOCK_SHADOWS 7u /* Kind of a block: what became of all shadows. */
#define P3_BLOCK_PAST 8u /* Kind of a block: what counters of another one held when they were set aside. */
#define P3_END_BURST 0u /* Why a burst ended: it was over. */
#define P3_END_TIME 1u /* It took too long. */
#define P3_END_CALL 2u /* A system call that cannot be imitated. */
#define P3_END_LOCK 3u /* It waited for a lock, which only another thread would release. */
#define P3_END_SIGNAL 4u /* A signal. */
#define P3_END_EXIT 5u /* The thread or the program ended in it. */
#define P3_END_PARENT 6u /* The program ended. */
#define P3_END_SHARED 7u /* Memory is shared that cannot be copied. */
#define P3_END_MEMORY 8u /* There was no memory. */
#define P3_END_TEXT 9u /* The code cannot be written. */
#define P3_END_FILTER 10u /* System calls cannot be filtered. */
#define P3_END_JUMP 11u /* It jumped to an address that several blocks have. */
#define P3_CALL_ALLOWED 0u /* What was done about a system call: it was made. */
#define P3_CALL_ASSUMED 1u /* It was not made, and the program was told that it succeeded. */
#define P3_CALL_HANDLED 2u /* It was imitated. */
#define P3_CALL_ENDED 3u /* It ended the burst. */
#define P3_CHUNK_ALIGN 64u /* What chunks are aligned to. */

/* At offset 0. Strings follow. Blocks begin at the next multiple of the page. */
struct p3_raw_header {
    uint64_t magic; /* P3_RAW_MAGIC */
    uint32_t version; /* P3_RAW_VERSION */
    uint32_t header_size; /* of this header */
    uint8_t program[16]; /* the rewriting: `program` of manifest.json */
    uint8_t unique[16]; /* random; no other file has it */
    uint32_t copy; /* which copy */
    uint32_t copies; /* number of copies */
    uint64_t pid; /* id of the process that made the file */
    uint64_t parent; /* process id of its parent */
    uint64_t page; /* what blocks are aligned to */
    uint32_t atomic; /* 1 when counts are updated atomically */
    uint32_t arguments; /* number of arguments, the program's name included */
    uint32_t text_size; /* size of the strings behind this header */
    uint32_t process; /* what is not known of the process: P3_RAW_ARGUMENTS_CUT, P3_RAW_ARGUMENTS_UNKNOWN */
    /* of a pool (%m): the system's boot id, since processes of this boot may add to the file; zeros: no
     * other process does */
    uint8_t boot[16];
    uint32_t reserved; /* 0 */
    uint32_t header_crc; /* CRC-32 (IEEE) of the header up to here and of the strings */
    uint32_t flags; /* P3_RAW_LOST, P3_RAW_APART, P3_RAW_UNSAVED */
    /* how often counts were set aside, to be counted no more or in another file: the present epoch */
    uint32_t epoch;
    uint64_t file_size; /* length of the file, at least; grows before a block becomes valid */
    uint64_t runs; /* number of processes that were started and counted here */
    /* number of forked children that did, which began inside the functions of their parents */
    uint64_t children;
    uint64_t ended; /* how many of both ended normally, in their only thread */
    uint64_t owner; /* of a pool: the process that counts here, or did last */
    uint64_t owner_start; /* when that began, as in /proc/PID/stat */
    uint64_t owner_space; /* its name space of process ids */
    uint64_t owner_image; /* random, of the program that it ran: not the same after exec */
    uint64_t absent; /* number of forked children, and of theirs, whose counts are in no file, or not yet */
};

/* At multiples of the page. A page that begins with zeros instead was reserved and never used. */
struct p3_raw_block {
    uint64_t magic; /* P3_BLOCK_MAGIC, written last */
    uint64_t size; /* with this header; a multiple of the page */
    /* P3_BLOCK_MODULE, P3_BLOCK_ARENA, P3_BLOCK_STARTED, P3_BLOCK_SAMPLE, P3_BLOCK_BURST,
     * P3_BLOCK_SHADOWS, P3_BLOCK_PAST */
    uint32_t kind;
    /* module: its number in the manifest; arena: its number in the file; past: that of the block that it
     * is about */
    uint32_t module;
    /* module: number of function records, which follow this header; past: the kind of the block that it is
     * about */
    uint64_t n_functions;
    /* module: where the counters are in the block, a multiple of the page; past: where the first of two
     * areas is */
    uint64_t counters_offset;
    uint64_t n_counters; /* module: number of counters, of 8 bytes; past: the same of an area */
    uint64_t used; /* arena: how much of it, from its beginning, chunks were cut from */
    uint32_t reserved2; /* 0 */
    uint32_t crc; /* CRC-32 of size … n_counters and of the records */
};

/* Counters of one kind of one function, in a module's block. */
struct p3_raw_function {
    uint32_t func; /* its number in the manifest */
    uint32_t kind; /* P3_ARRAY, P3_HASH, P3_ENTRIES, P3_HITS */
    uint64_t size; /* P3_ARRAY, P3_HASH: one more than the largest id; P3_ENTRIES, P3_HITS: 1 */
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
    uint32_t reserved2; /* 0 */
    uint32_t crc; /* CRC-32 of func … size */
};

/* In a block of its kind, behind the header: processes that were started alike. Their arguments and the
 * working folder follow, each ended by a zero, up to a multiple of 8. */
struct p3_raw_started {
    /* FNV-1a (64 bits) of the text and of arguments … process, or 1 where that is 0; written last; 0: no
     * more in this block */
    uint64_t key;
    uint64_t runs; /* number of those that were started */
    uint64_t children; /* number of forked children, which have the arguments of their parents */
    uint64_t ended; /* how many of both ended normally */
    uint32_t arguments; /* number of arguments, the program's name included */
    uint32_t text_size; /* size of the text */
    uint32_t process; /* P3_RAW_ARGUMENTS_CUT, P3_RAW_ARGUMENTS_UNKNOWN */
    uint32_t reserved; /* 0 */
};

/* In a block of its kind, behind the header: a sample of subpaths, a concise or a counting one after
 * Gibbons & Matias. Two areas follow, at P3_SAMPLE_AREAS. */
struct p3_raw_sample {
    uint64_t period; /* the mean number of blocks from one beginning of a sample to the next, at first */
    uint64_t area; /* size of each area */
    /* P3_WITHIN: subpaths are those of each activation by itself; P3_COUNTING: it is a counting sample */
    uint32_t flags;
    uint32_t n_lengths; /* number of lengths */
    uint64_t lengths[16]; /* in blocks, ascending */
    uint64_t chances[16]; /* how many of 2^32 samples have each */
    uint32_t reserved; /* 0 */
    uint32_t crc; /* CRC-32 of all above */
    /* bit 0: the area that holds the sample; 31 bits: how often the threshold was doubled, and with it the
     * period of a concise sample; above: how often the list was emptied */
    uint64_t state;
    uint64_t used[2]; /* of each area, how many bytes hold entries */
    /* executed blocks, estimated: each beginning of a sample adds the period that it was drawn with */
    uint64_t blocks;
    /* the same of samples that were begun while too many others were under way, and not recorded */
    uint64_t crowded;
    uint64_t long_ones; /* how many were too long for the list */
};

/* An entry of an area, at a multiple of 4. The subpath follows. */
struct p3_raw_subpath {
    uint32_t count; /* number of its sample points; in a counting sample of those since it is listed */
    uint32_t size; /* size of what follows, below 2^16; above: which length it has */
};

/* In a block of its kind, behind the header: a burst. Its paths follow, then its system calls. */
struct p3_raw_burst {
    uint32_t crc; /* CRC-32 of all that follows, paths and calls included */
    uint32_t why; /* P3_END_BURST and its like */
    uint32_t detail; /* P3_END_CALL: its number; P3_END_SIGNAL: the signal */
    uint32_t n_calls; /* number of records of system calls */
    uint64_t size; /* size of the block without what fills its last page */
    uint64_t n_paths; /* number of records of paths */
    uint64_t instructions; /* instructions that were counted, as the input module has them */
    uint64_t nanoseconds; /* processor time that counting it took */
    /* processor time that the program itself takes for the same, in nanoseconds, estimated; not 0 */
    uint64_t native;
    /* 1: a twin found that out; 0: it is what counting took, of which others tell how much is the
     * program's */
    uint64_t timed;
    uint64_t thread; /* the thread that was forked */
    /* what the burst stands for: processor time of the program from one burst to the next, on average, in
     * nanoseconds; not 0 */
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
    uint32_t number; /* its number; 512: a larger one */
    uint32_t treatment; /* P3_CALL_ALLOWED and its like */
    uint64_t count; /* how often */
};

/* In a block of its kind, behind the header: all shadows of a process. It changes while the process runs. */
struct p3_raw_shadows {
    /* length of a burst, in instructions; 0: from 10 to 100 million, as cost and load have room for */
    uint64_t burst;
    uint64_t load; /* shadows at a time, in thousandths */
    uint64_t started; /* number of shadows that were forked */
    uint64_t handed_over; /* how many left a record */
    uint64_t not_written; /* how many had no room for it */
    uint64_t not_forked; /* how often a fork failed */
    uint64_t busy; /* how often enough shadows were there */
    uint64_t short_of_memory; /* how often too little memory was */
    /* nanoseconds that the last one took, had it been as long as is asked for (10 million instructions, or
     * `burst`) */
    uint64_t last_took;
    uint64_t impossible; /* why no shadow can be: P3_END_TEXT, P3_END_FILTER; 0: they can */
    uint64_t cost; /* what shadows may cost the program, in millionths of its processor time */
    uint64_t spent; /* what they did cost, measured, in nanoseconds of processor time */
    uint64_t time; /* the program's processor time when that was said, in nanoseconds */
    uint64_t lived; /* nanoseconds that all shadows took that are over */
    /* why there are none any more while the program runs: 1: it filters its system calls; 2: it uses the
     * signal of their timer; 0: they go on */
    uint64_t ended;
};

#endif
