/* Counting: hash tables of 64-bit path ids, and single counters. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>

enum { FIRST_CAPACITY = 256 };

static uint64_t slot_of(uint64_t key, uint64_t capacity) {
    uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);
    return (h ^ (h >> 32)) & (capacity - 1);
}

static struct p3_slot *find(struct p3_slot *slots, uint64_t capacity, uint64_t key) {
    uint64_t i = slot_of(key, capacity);
    while (slots[i].key != key && slots[i].key != 0)
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

/* Doubles the table. When there is no memory, it goes on filling up; -1 when it is full. */
static int grow(struct p3_table *table) {
    uint64_t capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY;
    int saved = errno;
    void *memory = mmap(NULL, capacity * sizeof(struct p3_slot), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    if (memory == MAP_FAILED)
        return table->used + 1 < table->capacity ? 0 : -1;
    struct p3_slot *old = table->slots, *slots = memory;
    uint64_t n = table->capacity;
    for (uint64_t i = 0; i < n; i++)
        if (old[i].key != 0)
            *find(slots, capacity, old[i].key) = old[i];
    table->slots = slots;
    table->capacity = capacity;
    if (old)
        munmap(old, n * sizeof(struct p3_slot));
    errno = saved;
    return 0;
}

void __p3_count(struct p3_table *table, uint64_t id) {
    uint64_t key = id + 1;
    if (key == 0)
        return;
    if (table->capacity != 0) {
        struct p3_slot *slot = find(table->slots, table->capacity, key);
        if (slot->key == key) {
            slot->count++;
            return;
        }
    }
    if (table->used * 4 >= table->capacity * 3 && grow(table) != 0) {
        p3_count_lost();
        return;
    }
    struct p3_slot *slot = find(table->slots, table->capacity, key);
    slot->key = key;
    slot->count = 1;
    table->used++;
}

void __p3_count_atomic(struct p3_table *table, uint64_t id) {
    while (__atomic_exchange_n(&table->lock, 1, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
    __p3_count(table, id);
    __atomic_store_n(&table->lock, 0, __ATOMIC_RELEASE);
}

void p3_table_reset(struct p3_table *table) {
    for (uint64_t i = 0; i < table->capacity; i++)
        table->slots[i] = (struct p3_slot){0, 0};
    table->used = 0;
    table->lock = 0;
}

void __p3_add(uint64_t *counter) { ++*counter; }

void __p3_add_atomic(uint64_t *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }
