/* What rewritten modules and the runtime share in memory. Written by src/runtime/generate.rs. */
#ifndef P3_ABI_H
#define P3_ABI_H

#include <stdint.h>

#define P3_ABI 4u /* The version of this interface. */
#define P3_ARRAY 0u /* Kind of a function's counters: an array, indexed by path ids. */
#define P3_HASH 1u /* A hash table by path ids. */
#define P3_ENTRIES 2u /* One counter, of the function's entries. */
#define P3_HITS 3u /* One counter, of executed probes (`--count-hits`). */
#define P3_ATOMIC 1u /* In a module's flags: counts are updated atomically. */
/* The most levels of a hash table: level i has P3_FIRST_SLOTS << 2 * i slots. A key is in the first level
 * in which its window of P3_WINDOW slots had room when it came, and never moves. */
#define P3_LEVELS 12u
#define P3_FIRST_SLOTS 128u /* The number of slots of level 0. */
#define P3_WINDOW 8u /* The number of slots in which a level may have a key. */
#define P3_CACHE_BITS 10u /* An id is cached at the upper so many bits of its product with P3_HASH_FACTOR. */
#define P3_CACHED 1024u /* The number of slots that a table's cache holds. */
/* The golden ratio of 2^64: neighbouring ids land far from each other (Fibonacci hashing). */
#define P3_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* A slot of a hash table. */
struct p3_slot {
    uint64_t key; /* path id plus one; 0: empty */
    uint64_t count; /* how often that path ran */
};

/* A growing hash table. */
struct p3_table {
    uint64_t none; /* 0: read as a slot, the table is one that no id has */
    uint32_t func; /* its number in the manifest */
    uint32_t reserved; /* 0 */
    uint64_t size; /* one more than the largest id */
    struct p3_slot *level[12]; /* P3_LEVELS; NULL from the first that was not needed so far */
    /* P3_CACHED slots, as distances in bytes from the table; NULL without inlined counting. Each is a slot
     * of some id that hashes there, or 0. A slot is checked by its key, so any race is harmless. */
    int64_t *cache;
};

/* What a module tells of itself. */
struct p3_module {
    uint32_t abi; /* P3_ABI */
    uint32_t n_tables; /* number of its hash tables */
    uint32_t copy; /* which copy of the program it is in */
    uint32_t copies; /* their number */
    uint8_t program[16]; /* the rewriting: `program` of manifest.json */
    uint32_t flags; /* P3_ATOMIC */
    uint32_t reserved; /* 0 */
    /* what the profile says of it, with its records and checksum, as it will stand there */
    const struct p3_raw_block *block;
    struct p3_table *tables; /* its hash tables */
    uint64_t *counters; /* whole pages of its own */
    uint64_t counters_size; /* in bytes, a multiple of page */
    uint64_t page; /* the largest that a kernel for its target has */
    struct p3_module *next; /* the runtime's list */
    uint64_t live; /* the runtime's: the counters are mapped over the profile */
    uint64_t reserved2; /* 0 */
};

#define P3_HIDDEN __attribute__((visibility("hidden")))

/* Called by each module's constructor. */
P3_HIDDEN void __p3_register(struct p3_module *module);
/* Counts a path id; UINT64_MAX counts nothing. */
P3_HIDDEN void __p3_count(struct p3_table *table, uint64_t id);
/* The same, exact where several threads count. */
P3_HIDDEN void __p3_count_atomic(struct p3_table *table, uint64_t id);
/* The slot of a path id, which is in the table's cache from now on. Never NULL. */
P3_HIDDEN struct p3_slot *__p3_find(struct p3_table *table, uint64_t id);
/* --counters call: increments one counter. */
P3_HIDDEN void __p3_add(uint64_t *counter);
/* The same, exact where several threads count. */
P3_HIDDEN void __p3_add_atomic(uint64_t *counter);

#endif
