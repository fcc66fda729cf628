/* The raw profile (docs/RAW_FORMAT.md). All numbers are in the byte order of the machine that wrote them.
 * The file is valid at any moment: counters and hash tables are mapped, the process may be killed. Written
 * by src/runtime/generate.rs. */
#ifndef P3_FORMAT_H
#define P3_FORMAT_H

#include <stdint.h>

/* What a file begins with: \xff p3raw \xff and the version. Read in the other byte order it tells that. */
#define P3_RAW_MAGIC UINT64_C(0xff7033726177ff04)
#define P3_BLOCK_MAGIC UINT64_C(0x7033626c6f636b03) /* What a block begins with: p3block and a version. */
#define P3_CHUNK_MAGIC UINT64_C(0x70336368756e6b03) /* What a chunk begins with: p3chunk and a version. */
#define P3_RAW_VERSION 4u /* The version of the format. */
#define P3_RAW_ENDED 1u /* In the flags: the process ended normally, in its only thread. */
#define P3_RAW_LOST 2u /* In the flags: counts were lost, without memory or space. */
/* In the flags: of a forked child, which began inside the functions of its parent. */
#define P3_RAW_CHILD 4u
/* Of the process: only the first P3_RAW_ARGUMENTS_MAX bytes of its arguments are there. */
#define P3_RAW_ARGUMENTS_CUT 1u
#define P3_RAW_ARGUMENTS_UNKNOWN 2u /* Of the process: the system did not tell its arguments. */
#define P3_RAW_ARGUMENTS_MAX 32768u /* The most bytes of arguments that are kept, their zeros included. */
#define P3_BLOCK_MODULE 1u /* Kind of a block: the counters of a module. */
#define P3_BLOCK_ARENA 2u /* Kind of a block: an arena, which holds chunks of hash tables. */
#define P3_CHUNK_ALIGN 64u /* What chunks are aligned to. */

/* At offset 0. Strings follow. Blocks begin at the next multiple of the page. */
struct p3_raw_header {
    uint64_t magic; /* P3_RAW_MAGIC */
    uint32_t version; /* P3_RAW_VERSION */
    uint32_t header_size; /* of this header */
    uint8_t program[16]; /* the rewriting: `program` of manifest.json */
    /* random, of this process and, where shared libraries have their own runtimes, of this one; no other
     * file has it */
    uint8_t unique[16];
    uint32_t copy; /* which copy */
    uint32_t copies; /* number of copies */
    uint64_t pid; /* process id */
    uint64_t parent; /* process id of its parent */
    uint64_t page; /* what blocks are aligned to */
    uint32_t atomic; /* 1 when counts are updated atomically */
    uint32_t arguments; /* number of arguments, the program's name included */
    uint32_t text_size; /* size of the strings behind this header */
    uint32_t process; /* what is not known of the process: P3_RAW_ARGUMENTS_CUT, P3_RAW_ARGUMENTS_UNKNOWN */
    uint32_t reserved; /* 0 */
    uint32_t header_crc; /* CRC-32 (IEEE) of the header up to here and of the strings */
    uint32_t flags; /* P3_RAW_ENDED, P3_RAW_LOST, P3_RAW_CHILD */
    uint32_t reserved2; /* 0 */
    uint64_t file_size; /* length of the file, at least; grows before a block becomes valid */
};

/* At multiples of the page. A page that begins with zeros instead was reserved and never used. */
struct p3_raw_block {
    uint64_t magic; /* P3_BLOCK_MAGIC, written last */
    uint64_t size; /* with this header; a multiple of the page */
    uint32_t kind; /* P3_BLOCK_MODULE, P3_BLOCK_ARENA */
    uint32_t module; /* module: its number in the manifest */
    uint64_t n_functions; /* module: number of function records, which follow this header */
    uint64_t counters_offset; /* module: where the counters are in the block, a multiple of the page */
    uint64_t n_counters; /* module: number of counters, of 8 bytes */
    uint64_t reserved; /* 0 */
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

#endif
