// SPDX-License-Identifier: MIT OR Apache-2.0
/* The slots of hash tables: where keys are.
 *
 * Calls: p3_arena.c, p3_live.c.
 * In signal handlers: p3_slot_find.
 *
 * No lock anywhere: a key is claimed by compare-and-swap, never moves and never goes, so counting is
 * safe in signal handlers and threads, and a process killed at any moment leaves a table that can be read. */
#include "p3_internal.h"

#include <string.h>

/* Where the window of a key begins: its upper bits, two more of them each level. */
static uint64_t window(const struct p3_table *table, uint64_t key, unsigned level) {
    return key >> (table->bits - 7 - 2 * level);
}

static struct p3_slot *level_of(struct p3_table *table, unsigned level) {
    struct p3_slot *slots = __atomic_load_n(&table->level[level], __ATOMIC_ACQUIRE);
    if (slots != NULL)
        return slots;
    struct p3_slot *fresh = p3_arena_level(table, level);
    /* Whoever comes second uses what is there; its own stays empty. */
    if (fresh == NULL || __atomic_compare_exchange_n(&table->level[level], &slots, fresh, 0,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    return slots;
}

/* Whether the slot holds the key, now or from now on. */
static int take(struct p3_slot *slot, uint64_t key) {
    uint64_t found = __atomic_load_n(&slot->key, __ATOMIC_RELAXED);
    if (found == 0)
        __atomic_compare_exchange_n(&slot->key, &found, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return found == 0 || found == key;
}

/* The slot that holds the key, now or from now on, in a window that begins here; NULL where all slots hold others. A
 * lookup passes some full windows, each in five instructions a slot. */
static struct p3_slot *find_in(struct p3_slot *window, uint64_t key) {
    for (unsigned i = 0; i < P3_WINDOW; i++) {
        uint64_t found = __atomic_load_n(&window[i].key, __ATOMIC_RELAXED);
        if (found == key || (found == 0 && take(&window[i], key)))
            return &window[i];
    }
    return NULL;
}

/* The same in a window that goes on with the first slot behind the last one. */
static struct p3_slot *find_around(struct p3_slot *slots, uint64_t first, uint64_t mask, uint64_t key) {
    for (uint64_t i = 0; i < P3_WINDOW; i++)
        if (take(&slots[(first + i) & mask], key))
            return &slots[(first + i) & mask];
    return NULL;
}

struct p3_slot *p3_slot_find(struct p3_table *table, uint64_t key) {
    for (unsigned level = 0; level < P3_LEVELS; level++) {
        struct p3_slot *slots = level_of(table, level);
        if (slots == NULL)
            return NULL;
        uint64_t n = p3_level_slots(level), first = window(table, key, level) & (n - 1);
        struct p3_slot *slot =
            first + P3_WINDOW <= n ? find_in(slots + first, key) : find_around(slots, first, n - 1, key);
        if (slot != NULL)
            return slot;
    }
    return NULL;
}

void p3_slot_empty(struct p3_table *table) {
    if (table->cache != NULL && table->level[0] != NULL)
        memset((char *)table->cache + table->distance, 0, (1 + P3_CACHED) * sizeof *table->cache);
    memset(table->level, 0, sizeof table->level);
}

/* Empties a level that is no more its table's, header and all. */
static void recount(struct p3_table *table, struct p3_slot *slots, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (slots[i].count != 0) {
            struct p3_slot *slot = p3_slot_find(table, slots[i].key);
            if (slot != NULL)
                slot->count += slots[i].count;
            else
                p3_live_lost();
        }
    memset((struct p3_raw_chunk *)slots - 1, 0, sizeof(struct p3_raw_chunk) + n * sizeof *slots);
}

void p3_slot_recount(struct p3_table *table) {
    struct p3_slot *old[P3_LEVELS];
    memcpy(old, table->level, sizeof old);
    p3_slot_empty(table);
    p3_arena_levels(table);
    for (unsigned level = 0; level < P3_LEVELS; level++)
        if (old[level] != NULL)
            recount(table, old[level], p3_level_slots(level));
}
