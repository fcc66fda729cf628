/* What rewritten modules and the runtime share. src/emit/data.rs writes these structures. */
#ifndef P3_ABI_H
#define P3_ABI_H

#include <stdint.h>

#define P3_ABI 1u

enum { P3_ARRAY = 0, P3_HASH = 1 };

enum { P3_ATOMIC = 1u }; /* p3_module.flags: counts are updated atomically */

/* A growing hash table; all zero when the program starts. */
struct p3_table {
    struct p3_slot *slots; /* open addressing, linear probing */
    uint64_t capacity;     /* 0 or a power of two */
    uint64_t used;
    uint32_t lock; /* of __p3_count_atomic */
    uint32_t pad;
    uint64_t reserved[4];
};

struct p3_slot {
    uint64_t key; /* path id + 1; 0: empty */
    uint64_t count;
};

struct p3_function {
    uint32_t func; /* its number in the manifest */
    uint32_t kind;
    uint64_t size; /* one more than the largest id */
    void *counts;  /* P3_ARRAY: uint64_t[size]; P3_HASH: struct p3_table */
};

struct p3_module {
    uint32_t abi;
    uint32_t n_functions;
    uint32_t copy;
    uint32_t copies;
    uint8_t program[16];
    uint32_t module; /* its number in the manifest */
    uint32_t flags;
    struct p3_function *functions;
    uint64_t *counters;
    uint64_t n_counters;
    struct p3_module *next; /* the runtime's list */
    uint64_t reserved[4];
};

/* Called by each module's constructor. */
void __p3_register(struct p3_module *module);
/* Counts a path id; UINT64_MAX counts nothing. */
void __p3_count(struct p3_table *table, uint64_t id);
void __p3_count_atomic(struct p3_table *table, uint64_t id);
/* --counters call: increments one counter. */
void __p3_add(uint64_t *counter);
void __p3_add_atomic(uint64_t *counter);

#endif
