/* What rewritten modules and the runtime share. src/emit/data.rs writes these structures. */
#ifndef P3_ABI_H
#define P3_ABI_H

#include <stdint.h>

#define P3_ABI 3u

/* p3_function.kind */
enum { P3_ARRAY = 0, P3_HASH = 1, P3_ENTRIES = 2, P3_HITS = 3 };

enum { P3_ATOMIC = 1u }; /* p3_module.flags: counts are updated atomically */

struct p3_slot {
    uint64_t key; /* path id + 1; 0: empty */
    uint64_t count;
};

/* A growing hash table: level i has P3_FIRST_SLOTS << 2 * i slots. A key is in the first level in
 * which its window of P3_WINDOW slots had room when it came, and never moves. */
enum { P3_LEVELS = 12, P3_FIRST_SLOTS = 128, P3_WINDOW = 8 };

struct p3_table {
    uint64_t none; /* 0: read as a slot, the table is one that no id has */
    uint32_t func; /* its number in the manifest */
    uint32_t reserved;
    uint64_t size; /* one more than the largest id */
    struct p3_slot *level[P3_LEVELS];
    /* P3_CACHED slots, as distances in bytes from the table; NULL without inlined counting. Each is a
     * slot of some id that hashes there, or 0. A slot is checked by its key, so any race is harmless. */
    int64_t *cache;
};

/* An id is cached at the upper P3_CACHE_BITS bits of its product with P3_HASH_FACTOR. */
enum { P3_CACHE_BITS = 10, P3_CACHED = 1 << P3_CACHE_BITS };
#define P3_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

struct p3_function {
    uint32_t func; /* its number in the manifest */
    uint32_t kind;
    uint64_t size; /* P3_ARRAY, P3_HASH: one more than the largest id; P3_ENTRIES, P3_HITS: 1 */
    void *counts;  /* P3_HASH: struct p3_table; otherwise uint64_t[size], among the counters */
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
    uint64_t *counters;     /* whole pages of its own */
    uint64_t counters_size; /* in bytes, a multiple of page */
    uint64_t page;
    struct p3_module *next; /* the runtime's list */
    uint64_t live;          /* the runtime's: the counters are mapped over the profile */
    uint64_t reserved[2];
};

#define P3_HIDDEN __attribute__((visibility("hidden")))

/* Called by each module's constructor. */
P3_HIDDEN void __p3_register(struct p3_module *module);
/* Counts a path id; UINT64_MAX counts nothing. */
P3_HIDDEN void __p3_count(struct p3_table *table, uint64_t id);
P3_HIDDEN void __p3_count_atomic(struct p3_table *table, uint64_t id);
/* The slot of a path id, which is in the table's cache from now on. Never NULL. */
P3_HIDDEN struct p3_slot *__p3_find(struct p3_table *table, uint64_t id);
/* --counters call: increments one counter. */
P3_HIDDEN void __p3_add(uint64_t *counter);
P3_HIDDEN void __p3_add_atomic(uint64_t *counter);

#endif
