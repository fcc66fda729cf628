/* The raw profile, version 1: the one source of the format (docs/RAW_FORMAT.md explains it).
 * All numbers in the byte order of the machine that wrote them; the magic number tells which. */
#ifndef P3_FORMAT_H
#define P3_FORMAT_H

#include <stdint.h>

#define P3_RAW_MAGIC UINT64_C(0xff7033726177ff01) /* \xff p3raw \xff \x01 */
#define P3_RAW_VERSION 1u

/* At offset 0. Behind it: module records, function records, counts; nothing else. */
struct p3_raw_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_size; /* sizeof(struct p3_raw_header) */
    uint64_t file_size;
    uint8_t program[16]; /* manifest.json: "program" */
    uint32_t copy;
    uint32_t copies;
    uint32_t n_modules;
    uint32_t n_functions; /* of all modules */
    uint64_t pid;
    uint32_t flags;     /* P3_ATOMIC */
    uint32_t reserved;  /* 0 */
    uint32_t body_crc;  /* CRC-32 of all that follows the header */
    uint32_t header_crc; /* CRC-32 of the header up to here */
};

struct p3_raw_module {
    uint32_t module;
    uint32_t n_functions; /* its function records follow those of the module before */
};

struct p3_raw_function {
    uint32_t func;
    uint32_t kind;    /* P3_ARRAY: entries are counters; P3_HASH: struct p3_raw_entry */
    uint64_t size;    /* one more than the largest id */
    uint64_t offset;  /* of the entries in the file, a multiple of 8 */
    uint64_t entries; /* their number; P3_ARRAY: size */
};

struct p3_raw_entry {
    uint64_t key; /* path id + 1; 0: empty */
    uint64_t count;
};

#endif
