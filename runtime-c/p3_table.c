/* Counting: hash tables of 64-bit path ids, and single counters.
 *
 * Calls: p3_arena.c, p3_live.c.
 * In signal handlers: all of it.
 *
 * No lock anywhere: a key is claimed by compare-and-swap, never moves and never goes, so counting is
 * safe in signal handlers and threads, and a process killed at any moment leaves a table that can be read. */
#include "p3_internal.h"

/* Where the window of a key begins: the upper bits of a product, two more of them each level. */
static uint64_t window(uint64_t key, unsigned level) {
    return key * P3_HASH_FACTOR >> (64 - 7 - 2 * level);
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
        uint64_t first = window(key, level), mask = p3_level_slots(level) - 1;
        for (uint64_t i = 0; i < P3_WINDOW; i++)
            if (take(&slots[(first + i) & mask], key))
                return &slots[(first + i) & mask];
    }
    return NULL;
}

struct p3_slot *__p3_find(struct p3_table *table, uint64_t id) {
    static struct p3_slot nowhere;
    struct p3_slot *slot = find(table, id + 1);
    if (slot == NULL) {
        p3_live_lost();
        return &nowhere;
    }
    uint64_t at = id * P3_HASH_FACTOR >> (64 - P3_CACHE_BITS);
    int64_t distance = (int64_t)((uintptr_t)slot - (uintptr_t)table);
    __atomic_store_n(&table->cache[at], distance, __ATOMIC_RELAXED);
    return slot;
}

void __p3_count(struct p3_table *table, uint64_t id) {
    struct p3_slot *slot = id == UINT64_MAX ? NULL : find(table, id + 1);
    if (slot != NULL)
        slot->count++;
    else if (id != UINT64_MAX)
        p3_live_lost();
}

void __p3_count_atomic(struct p3_table *table, uint64_t id) {
    struct p3_slot *slot = id == UINT64_MAX ? NULL : find(table, id + 1);
    if (slot != NULL)
        __atomic_fetch_add(&slot->count, 1, __ATOMIC_RELAXED);
    else if (id != UINT64_MAX)
        p3_live_lost();
}

void __p3_add(uint64_t *counter) { ++*counter; }

void __p3_add_atomic(uint64_t *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }
