/* Counting: hash tables of path ids, known by their keys, and single counters.
 *
 * Calls: p3_arena.c, p3_live.c.
 * In signal handlers: all of it.
 *
 * No lock anywhere: a key is claimed by compare-and-swap, never moves and never goes, so counting is
 * safe in signal handlers and threads, and a process killed at any moment leaves a table that can be read. */
#include "p3_internal.h"

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

static struct p3_slot *find(struct p3_table *table, uint64_t key) {
    for (unsigned level = 0; level < P3_LEVELS; level++) {
        struct p3_slot *slots = level_of(table, level);
        if (slots == NULL)
            return NULL;
        uint64_t first = window(table, key, level), mask = p3_level_slots(level) - 1;
        for (uint64_t i = 0; i < P3_WINDOW; i++)
            if (take(&slots[(first + i) & mask], key))
                return &slots[(first + i) & mask];
    }
    return NULL;
}

/* The slot of a key, cached; NULL when there is none for it. */
static struct p3_slot *slot_of(struct p3_table *table, uint64_t key) {
    if (key == 0)
        return NULL;
    struct p3_slot *slot = find(table, key);
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
