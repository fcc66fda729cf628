// SPDX-License-Identifier: MIT OR Apache-2.0
/* What rewritten modules and the runtime share in memory. Written by src/runtime/generate.rs. */
#ifndef P3_ABI_H
#define P3_ABI_H

#include <stdint.h>

#define P3_ABI 11u /* The version of this interface. */
#define P3_ARRAY 0u /* Kind of a function's counters: an array, indexed by path ids. */
#define P3_HASH 1u /* A hash table by path ids. */
#define P3_ENTRIES 2u /* One counter, of the function's entries. */
#define P3_HITS 3u /* One counter, of executed probes (`--count-hits`). */
/* Counters of what forked children did in a function that calls `fork`: returns of `fork` in a child,
 * returns of children from an activation that they did not enter, children that completed the path on
 * which they were forked; then by block how often children entered it on that path. */
#define P3_FORKS 4u
#define P3_ATOMIC 1u /* In a module's flags: counts are updated atomically. */
/* In a module's flags: each thread has counters of its own, at a distance from those of the first thread. */
#define P3_BY_THREAD 4u
#define P3_WITHIN 1u /* In the flags of sampling: subpaths are those of each activation by itself. */
/* In the flags of sampling: the seed was asked for; else each process has one of its own. */
#define P3_SEEDED 2u
/* In the flags of sampling: the list is a counting sample, in which every point of a subpath counts that
 * is listed; else a concise one. */
#define P3_COUNTING 4u
#define P3_FRAME_WORDS 2u /* The words of an activation that is sampled. */
#define P3_FRAME_SKIP 0u /* Of these: where the next sample begins. */
/* How many blocks are nothing to the runtime, while nothing is recorded across calls. */
#define P3_FRAME_UNTOLD 1u
#define P3_MOST_LENGTHS 16u /* The most lengths of subpaths. */
/* In a module's flags: its functions do not count, but have others beside them that do, for forked
 * shadows. */
#define P3_SHADOWED 2u
/* The most levels of a hash table: level i has P3_FIRST_SLOTS << 2 * i slots. A key is in the first level
 * in which its window of P3_WINDOW slots had room when it came, and never moves. */
#define P3_LEVELS 12u
#define P3_FIRST_SLOTS 128u /* The number of slots of level 0. */
#define P3_WINDOW 8u /* The number of slots in which a level may have a key. */
/* A key is cached at its upper so many bits. Functions execute some thousand paths each at the most
 * (gnugo: 33,000 in 300 tables), and two of them that share a slot cost a call each time they alternate;
 * what is not used takes no memory. */
#define P3_CACHE_BITS 13u
#define P3_CACHED 8192u /* The number of slots that a table's cache holds. */
/* The key of an id is the id plus one, times this, modulo 2^64; modulo 2^32, times its upper half, where
 * all ids are below 2^32 - 1. The golden ratio of 2^64: neighbouring ids land far from each other
 * (Fibonacci hashing). It is odd, and so is its upper half: keys lead back to ids, and none is 0. */
#define P3_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* A slot of a hash table. */
struct p3_slot {
    uint64_t key; /* key of a path id, see P3_HASH_FACTOR; 0: empty */
    uint64_t count; /* how often that path ran */
};

/* A growing hash table. */
struct p3_table {
    uint32_t func; /* its number in the manifest */
    uint32_t bits; /* of its keys: 32 or 64 */
    uint64_t size; /* one more than the largest id */
    uint64_t distance; /* the runtime's: from the first thread's table to this one, in bytes, modulo 2^64 */
    uint64_t shift; /* the runtime's: the number of that distance, 0 for the first thread's */
    struct p3_slot *level[12]; /* P3_LEVELS; NULL from the first that was not needed so far */
    /* of the first thread: 0, then P3_CACHED slots, as distances in bytes from that 0 (a thread's own
     * words are at `distance` from these, and hold distances from the first thread's 0); NULL without
     * inlined counting. Each is a slot of some key whose first or second place that is (p3_table.c), or
     * the 0 itself, read as a slot that no key has. A slot is checked by its key, so any race is harmless. */
    int64_t *cache;
};

/* How subpaths are sampled. */
struct p3_sampling {
    uint64_t period; /* the mean number of blocks from one beginning of a sample to the next, at first */
    uint64_t seed; /* where P3_SEEDED says so */
    uint64_t memory; /* of the hot list and what finds its entries, in bytes */
    uint32_t flags; /* P3_WITHIN, P3_SEEDED, P3_COUNTING */
    uint32_t n_lengths; /* number of lengths */
    uint64_t lengths[16]; /* in blocks, ascending; zeros behind */
    uint64_t chances[16]; /* how many of 2^32 samples have each; their sum is 2^32 */
};

/* Where native code and the code that counts both come by: what that notes in a burst. */
struct p3_passed {
    uint64_t times; /* how often */
    uint64_t left; /* instructions that were left the last time; negative numbers modulo 2^64 */
};

/* A function that another one stands beside. */
struct p3_entry {
    uint8_t *from; /* where it begins: sixteen bytes of nops are before it */
    const uint8_t *counting; /* what a jump there leads to, to be counted */
    struct p3_passed *passed; /* what that notes of its entry */
};

/* The targets of a jump to addresses of blocks. */
struct p3_jumps {
    uint32_t n; /* their number */
    uint32_t bits; /* of a slot's number: 2^bits is twice n at least */
    const void *const *targets; /* the addresses in the native function */
    uint32_t *slots; /* a hash table: one more than the number of a target, or 0 */
};

/* What a module tells of itself. */
struct p3_module {
    uint32_t abi; /* P3_ABI */
    uint32_t n_tables; /* number of its hash tables */
    uint32_t copy; /* which copy of the program it is in */
    uint32_t copies; /* their number */
    uint8_t program[16]; /* the rewriting: `program` of manifest.json */
    uint32_t flags; /* P3_ATOMIC, P3_SHADOWED, P3_BY_THREAD */
    uint32_t n_entries; /* P3_SHADOWED: number of its functions */
    /* what the profile says of it, with its records and checksum, as it will stand there */
    const struct p3_raw_block *block;
    struct p3_table *tables; /* its hash tables */
    uint64_t *counters; /* whole pages of its own */
    uint64_t counters_size; /* in bytes, a multiple of page */
    uint64_t page; /* the largest that a kernel for its target has */
    struct p3_module *next; /* the runtime's list */
    uint64_t live; /* the runtime's: not 0 where the counters are mapped over the profile */
    const struct p3_sampling *sampling; /* how it samples subpaths; NULL: it counts */
    const struct p3_entry *entries; /* P3_SHADOWED: its functions */
};

#define P3_HIDDEN __attribute__((visibility("hidden")))

/* Called by each module's constructor. */
P3_HIDDEN void __p3_register(struct p3_module *module);
/* The same for one with P3_SHADOWED. */
P3_HIDDEN void __p3_register_shadow(struct p3_module *module);
/* Counts a path id by its key, which is in the table's cache from now on; 0 counts nothing. */
P3_HIDDEN void __p3_count(struct p3_table *table, uint64_t key);
/* The same, exact where several threads count. */
P3_HIDDEN void __p3_count_atomic(struct p3_table *table, uint64_t key);
/* The same in the table of the calling thread, where `table` is that of the first one. */
P3_HIDDEN void __p3_count_by_thread(struct p3_table *table, uint64_t key);
/* --counters call: increments one counter. */
P3_HIDDEN void __p3_add(uint64_t *counter);
/* The same, exact where several threads count. */
P3_HIDDEN void __p3_add_atomic(uint64_t *counter);
/* The same for the counter of the calling thread, where `counter` is that of the first one. */
P3_HIDDEN void __p3_add_by_thread(uint64_t *counter);
/* A segment begins, whose slots are paid: whether the sampling version runs it, from the skipping one
 * where it is fresh. */
P3_HIDDEN uint32_t __p3_subpath_boundary(int64_t *frame, uint64_t slots, uint32_t fresh);
/* A block begins in the sampling version. */
P3_HIDDEN void __p3_subpath_block(int64_t *frame, uint32_t block);
/* In a shadow: the number of the first target that is at an address. */
P3_HIDDEN uint32_t __p3_jump(const struct p3_jumps *jumps, const void *address);

#endif
