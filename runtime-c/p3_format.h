/* The raw profile, version 3: the one source of the format (docs/RAW_FORMAT.md explains it).
 * All numbers in the byte order of the machine that wrote them; the magic numbers tell which.
 * The file is valid at any moment: counters and hash tables are mapped, the process may be killed. */
#ifndef P3_FORMAT_H
#define P3_FORMAT_H

#include <stdint.h>

#define P3_RAW_MAGIC UINT64_C(0xff7033726177ff03)   /* \xff p3raw \xff \x03 */
#define P3_BLOCK_MAGIC UINT64_C(0x7033626c6f636b02) /* p3block \x02 */
#define P3_CHUNK_MAGIC UINT64_C(0x70336368756e6b02) /* p3chunk \x02 */
#define P3_RAW_VERSION 3u

/* p3_raw_header.flags */
enum {
    P3_RAW_ENDED = 1u, /* the process ended normally, in its only thread */
    P3_RAW_LOST = 2u,  /* counts were lost: no memory, no space */
    P3_RAW_CHILD = 4u  /* of a forked child: it began inside the functions of its parent */
};

/* p3_raw_header.process */
enum {
    P3_RAW_ARGUMENTS_CUT = 1u,    /* only the first P3_RAW_ARGUMENTS_MAX bytes of the arguments are there */
    P3_RAW_ARGUMENTS_UNKNOWN = 2u /* the system did not tell; the same for the folder */
};

#define P3_RAW_ARGUMENTS_MAX 32768u

/* At offset 0. Behind it `text_size` bytes of strings, each ended by a zero: the arguments, the
 * folder, the host. Blocks begin at the next multiple of the page. */
struct p3_raw_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_size; /* sizeof(struct p3_raw_header) */
    uint8_t program[16];  /* manifest.json: "program" */
    uint8_t unique[16];   /* of this process and this runtime in it; no other file has it */
    uint32_t copy;
    uint32_t copies;
    uint64_t pid;
    uint64_t parent;     /* its process id */
    uint64_t page;       /* what blocks are aligned to */
    uint32_t atomic;     /* counts are updated atomically */
    uint32_t arguments;  /* their number, the program's name included */
    uint32_t text_size;  /* of the strings behind the header */
    uint32_t process;    /* what is not known of the process */
    uint32_t reserved;   /* 0 */
    uint32_t header_crc; /* CRC-32 of the header up to here and of the strings */
    uint32_t flags;
    uint32_t reserved2; /* 0 */
    uint64_t file_size; /* at least; grows before a block becomes valid */
};

enum { P3_BLOCK_MODULE = 1, P3_BLOCK_ARENA = 2 };

/* At multiples of the page. A page that begins with zeros instead was reserved and never used. */
struct p3_raw_block {
    uint64_t magic; /* written last */
    uint64_t size;  /* with this header; a multiple of the page */
    uint32_t kind;
    uint32_t module;           /* its number in the manifest */
    uint64_t n_functions;      /* MODULE: function records follow this header */
    uint64_t counters_offset;  /* MODULE: from the block's begin, a multiple of the page */
    uint64_t n_counters;       /* MODULE */
    uint64_t reserved;
    uint32_t reserved2;
    uint32_t crc; /* CRC-32 of size … n_counters and of the records */
};

struct p3_raw_function {
    uint32_t func;
    uint32_t kind;
    uint64_t size;  /* as in p3_function */
    uint64_t first; /* index of the first counter */
};

/* In an ARENA block, at multiples of 64 behind its header. Zeros: reserved and never used. */
struct p3_raw_chunk {
    uint64_t magic; /* written last */
    uint32_t func;
    uint32_t level;
    uint64_t slots; /* struct p3_raw_slot follow: key and count */
    uint64_t size;  /* P3_HASH: one more than the largest id */
    uint64_t reserved[4];
};

#endif
