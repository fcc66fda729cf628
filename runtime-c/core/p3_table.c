// SPDX-License-Identifier: MIT OR Apache-2.0
/* Counting: hash tables of path ids, known by their keys, and single counters.
 *
 * Calls: p3_live.c, p3_slot.c.
 * In signal handlers: all of it. */
#include "p3_internal.h"

/* The slot of a key, cached; NULL when there is none for it. */
static struct p3_slot *slot_of(struct p3_table *table, uint64_t key) {
    if (key == 0)
        return NULL;
    struct p3_slot *slot = p3_slot_find(table, key);
    if (slot == NULL)
        p3_live_lost();
    else if (table->cache != NULL) {
        int64_t distance = (int64_t)((uintptr_t)slot - (uintptr_t)table->cache);
        __atomic_store_n(&table->cache[1 + (key >> (table->bits - P3_CACHE_BITS))], distance, __ATOMIC_RELAXED);
    }
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

void __p3_add(uint64_t *counter) { ++*counter; }

void __p3_add_atomic(uint64_t *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }
