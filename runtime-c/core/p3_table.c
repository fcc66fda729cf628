// SPDX-License-Identifier: MIT OR Apache-2.0
/* Counting: hash tables of path ids, known by their keys, and single counters.
 *
 * Calls: p3_live.c, p3_shift.c, p3_slot.c.
 * In signal handlers: all of it. */
#include "p3_internal.h"

/* Where the cache names the slot of a key: code of the program looks there, at the key's upper bits. */
static uint64_t first_place(const struct p3_table *table, uint64_t key) {
    return 1 + (key >> (table->bits - P3_CACHE_BITS));
}

/* Where it may name it as well, by the next bits: only the runtime looks there, when two keys with the same upper bits
 * alternate. Finding the slot takes three times as long. */
static uint64_t second_place(const struct p3_table *table, uint64_t key) {
    return 1 + (key >> (table->bits - 2 * P3_CACHE_BITS) & (P3_CACHED - 1));
}

/* A word of the cache that is the table's own. */
static int64_t *word(const struct p3_table *table, uint64_t place) {
    return (int64_t *)((uintptr_t)&table->cache[place] + (uintptr_t)table->distance);
}

/* The slot that the cache names at a place; one whose key is 0 where it names none. */
static struct p3_slot *named(const struct p3_table *table, uint64_t place) {
    int64_t distance = __atomic_load_n(word(table, place), __ATOMIC_ACQUIRE);
    return (struct p3_slot *)((uintptr_t)table->cache + (uintptr_t)distance);
}

static uint64_t key_of(const struct p3_slot *slot) { return __atomic_load_n(&slot->key, __ATOMIC_RELAXED); }

/* Whoever finds a slot there finds the level that it is in as well, which another thread may have made. */
static void name(struct p3_table *table, uint64_t place, const struct p3_slot *slot) {
    int64_t distance = (int64_t)((uintptr_t)slot - (uintptr_t)table->cache);
    __atomic_store_n(word(table, place), distance, __ATOMIC_RELEASE);
}

/* The slot of a key, past the cache; NULL when there is none for it, and a count is lost. */
static struct p3_slot *find_or_lose(struct p3_table *table, uint64_t key) {
    struct p3_slot *slot = p3_slot_find(table, key);
    if (slot == NULL)
        p3_live_lost();
    return slot;
}

/* The slot of a key, which the cache names from now on; NULL when there is none for it. */
static struct p3_slot *slot_of(struct p3_table *table, uint64_t key) {
    if (key == 0)
        return NULL;
    if (table->cache == NULL)
        return find_or_lose(table, key);
    uint64_t second = second_place(table, key);
    struct p3_slot *slot = named(table, second);
    uint64_t other = key_of(slot);
    if (other != key) {
        slot = find_or_lose(table, key);
        if (slot == NULL)
            return NULL;
        /* What is in its first place stays there. */
        if (other == 0 || first_place(table, other) != second)
            name(table, second, slot);
    }
    name(table, first_place(table, key), slot);
    return slot;
}

void __p3_count(struct p3_table *table, uint64_t key) {
    struct p3_slot *slot = slot_of(table, key);
    if (slot != NULL)
        slot->count++;
}

void __p3_count_atomic(struct p3_table *table, uint64_t key) {
    struct p3_slot *slot = slot_of(table, key);
    if (slot != NULL)
        __atomic_fetch_add(&slot->count, 1, __ATOMIC_RELAXED);
}

/* A thread's own, also where a signal interrupts it: elsewhere a plain increment takes several instructions. */
#if defined __x86_64__ || defined __i386__
static void increment_own(uint64_t *count) { ++*count; }
#else
static void increment_own(uint64_t *count) { __atomic_fetch_add(count, 1, __ATOMIC_RELAXED); }
#endif

void __p3_count_by_thread(struct p3_table *table, uint64_t key) {
    struct p3_slot *slot = slot_of((struct p3_table *)((uintptr_t)table + (uintptr_t)p3_shift_own()), key);
    if (slot != NULL)
        increment_own(&slot->count);
}

void __p3_add(uint64_t *counter) { ++*counter; }

void __p3_add_atomic(uint64_t *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

void __p3_add_by_thread(uint64_t *counter) {
    increment_own((uint64_t *)((uintptr_t)counter + (uintptr_t)p3_shift_own()));
}
