// SPDX-License-Identifier: MIT OR Apache-2.0
/* What a burst has counted, and how it becomes a record of the profile: whole, or not at all.
 *
 * Calls: p3_budget.c, p3_crc.c, p3_file.c, p3_shadow_ask.c, p3_shadow_patch.c, p3_shadow_system.c, p3_shadow_twin.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* HURRY: how long a shadow waits for its twin when the program ends, in nanoseconds. PATIENCE: how many times as long
 * as the burst took to count it waits besides: it should not take as long as that. */
enum { TREATMENTS = P3_CALL_ENDED + 1, PAGE = P3_SHADOW_PAGE, HURRY = 10000000, PATIENCE = 4 };

static const struct p3_shadow_task *task;
static uint32_t met[P3_CALLS + 1][TREATMENTS];
static uint64_t began, ran;

void p3_shadow_met(long number, uint32_t treatment) {
    met[number >= 0 && number < P3_CALLS ? number : P3_CALLS][treatment]++;
}

void p3_shadow_clock_start(void) { ran = p3_shadow_clock(CLOCK_THREAD_CPUTIME_ID); }

void p3_shadow_record_start(const struct p3_shadow_task *of) {
    task = of;
    memset(met, 0, sizeof met);
    began = p3_shadow_clock(CLOCK_MONOTONIC);
    p3_shadow_clock_start(); /* for records that end before all is ready */
    __p3_burst.left = of->burst;
}

/* A block that grows at its end; without memory it has no base. */
struct record {
    char *base;
    uint64_t size, room;
};

static void *take(struct record *record, uint64_t size) {
    while (record->base != NULL && record->size + size > record->room) {
        long grown = P3_CALL(SYS_mremap, record->base, record->room, 2 * record->room, MREMAP_MAYMOVE, 0, 0);
        record->base = grown < 0 && grown > -PAGE ? NULL : (char *)grown;
        record->room *= 2;
    }
    if (record->base == NULL)
        return NULL;
    void *at = record->base + record->size;
    record->size += size;
    return at;
}

static void add_path(struct record *record, uint32_t func, uint64_t id, uint64_t count) {
    struct p3_raw_path *path = count == 0 ? NULL : take(record, sizeof *path);
    if (path != NULL)
        *path = (struct p3_raw_path){.func = func, .id = id, .count = count};
}

static void add_array(struct record *record, const struct p3_module *m, const struct p3_raw_function *f) {
    for (uint64_t i = 0; i < f->size; i++)
        add_path(record, f->func, i, m->counters[f->first + i]);
}

/* What a key is multiplied by to get the id plus one: the inverse of what that was multiplied by, by Newton's method,
 * which doubles the number of right bits. */
static uint64_t inverse(uint64_t factor) {
    uint64_t x = factor; /* right in three bits */
    for (int i = 0; i < 5; i++)
        x *= 2 - factor * x;
    return x;
}

static uint64_t id_of(const struct p3_table *table, uint64_t key) {
    if (table->bits == 32)
        return (uint32_t)(key * inverse(P3_HASH_FACTOR >> 32)) - UINT64_C(1);
    return key * inverse(P3_HASH_FACTOR) - 1;
}

static void add_table(struct record *record, const struct p3_table *table) {
    for (unsigned l = 0; l < P3_LEVELS && table->level[l] != NULL; l++)
        for (uint64_t s = 0; s < p3_level_slots(l); s++) {
            const struct p3_slot *slot = &table->level[l][s];
            if (slot->key != 0 && slot->count != 0)
                add_path(record, table->func, id_of(table, slot->key), slot->count);
        }
}

static void add_module(struct record *record, const struct p3_module *m) {
    const struct p3_raw_function *f = (const struct p3_raw_function *)(m->block + 1);
    for (uint64_t i = 0; i < m->block->n_functions; i++)
        if (f[i].kind == P3_ARRAY)
            add_array(record, m, &f[i]);
    for (uint32_t i = 0; i < m->n_tables; i++)
        add_table(record, &m->tables[i]);
}

static uint32_t add_calls(struct record *record) {
    uint32_t n = 0;
    for (uint32_t number = 0; number <= P3_CALLS; number++)
        for (uint32_t treatment = 0; treatment < TREATMENTS; treatment++) {
            struct p3_raw_call *call = met[number][treatment] == 0 ? NULL : take(record, sizeof *call);
            if (call != NULL)
                *call = (struct p3_raw_call){.number = number, .treatment = treatment, .count = met[number][treatment]};
            n += call != NULL;
        }
    return n;
}

/* Nanoseconds that the burst takes the program itself; 0 where they cannot be known. `counting`: processor time that it
 * took so far. */
static uint64_t time_of(uint64_t counting, int hurry) {
    int64_t begin = task->burst, end = __p3_burst.left;
    static struct p3_shadow_marks marks;
    if (begin > end)
        p3_shadow_find_marks(&marks, begin, end, counting);
    if (marks.n == 0) {
        p3_shadow_twin_drop();
        return 0;
    }
    uint64_t patience = hurry ? HURRY : PATIENCE * (p3_shadow_clock(CLOCK_MONOTONIC) - began) + HURRY;
    uint64_t used = 0, took = p3_shadow_twin_ask(&marks, patience < task->limit ? patience : task->limit, &used);
    return (uint64_t)((double)took * (double)(begin - end) / (double)(begin - marks.of[used].left));
}

static void describe(struct record *record, uint32_t why, uint32_t detail) {
    struct p3_raw_burst burst = {.why = why, .detail = detail, .thread = (uint64_t)task->thread};
    burst.period = task->period;
    burst.instructions = (uint64_t)(task->burst - __p3_burst.left);
    burst.nanoseconds = p3_shadow_clock(CLOCK_THREAD_CPUTIME_ID) - ran + 1;
    for (const struct p3_module *m = task->modules; m != NULL; m = m->next)
        add_module(record, m);
    uint64_t native = time_of(burst.nanoseconds, why == P3_END_PARENT);
    burst.timed = native != 0;
    burst.native = burst.timed ? native : burst.nanoseconds;
    enum { HEAD = sizeof(struct p3_raw_block) + sizeof(struct p3_raw_burst) };
    burst.n_paths = record->base == NULL ? 0 : (record->size - HEAD) / sizeof(struct p3_raw_path);
    burst.n_calls = add_calls(record);
    burst.size = record->size;
    take(record, p3_round_up(record->size, task->header->page) - record->size);
    if (record->base == NULL)
        return;
    struct p3_raw_block *block = (struct p3_raw_block *)record->base;
    *block = (struct p3_raw_block){.magic = P3_BLOCK_MAGIC, .size = record->size, .kind = P3_BLOCK_BURST};
    block->crc = p3_block_crc(block);
    memcpy(block + 1, &burst, sizeof burst);
    enum { SUMMED = offsetof(struct p3_raw_burst, why) };
    uint32_t crc = p3_crc32(0, (const char *)(block + 1) + SUMMED, burst.size - sizeof *block - SUMMED);
    ((struct p3_raw_burst *)(block + 1))->crc = crc;
}

static int write_at(const char *data, uint64_t size, uint64_t offset) {
    while (size > 0) {
        long done = P3_CALL(SYS_pwrite64, task->file, data, size, offset, 0, 0);
        if (done <= 0)
            return 0;
        data += done;
        size -= (uint64_t)done;
        offset += (uint64_t)done;
    }
    return 1;
}

/* Shadows come one after the other; who is killed lets go. The room is there before anything is said of it, and the
 * file's length grows when the record is whole but for its magic number: what a killed one left is overwritten by the
 * next. */
static int hand_over(const struct record *record) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    uint64_t magic = sizeof(uint64_t);
    if (record->base == NULL || P3_CALL(SYS_fcntl, task->file, F_OFD_SETLKW, &lock, 0, 0, 0) != 0)
        return 0;
    uint64_t at = p3_round_up(__atomic_load_n(&task->header->file_size, __ATOMIC_ACQUIRE), task->header->page);
    uint64_t end = at + record->size;
    if (P3_CALL(SYS_fallocate, task->file, 0, at, record->size, 0, 0) != 0)
        return 0;
    if (!write_at(record->base + magic, record->size - magic, at + magic))
        return 0;
    __atomic_store_n(&task->header->file_size, end, __ATOMIC_RELEASE);
    return write_at(record->base, magic, at);
}

void p3_shadow_end(uint32_t why, uint32_t detail) {
    p3_shadow_twin_end();
    enum { FIRST = 1 << 16 };
    int all = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;
    long base = P3_CALL(SYS_mmap, 0, FIRST, all, own, -1, 0);
    struct record record = {.base = base < 0 && base > -PAGE ? NULL : (char *)base, .room = FIRST};
    /* What is counted from here on is none of the burst's. */
    take(&record, sizeof(struct p3_raw_block) + sizeof(struct p3_raw_burst));
    describe(&record, why, detail);
    int done = hand_over(&record);
    if (task->counts != NULL) {
        __atomic_fetch_add(done ? &task->counts->handed_over : &task->counts->not_written, 1, __ATOMIC_RELAXED);
        uint64_t took = p3_shadow_clock(CLOCK_MONOTONIC) - began;
        double as_asked = (double)took * (double)task->asked / (double)task->burst;
        __atomic_store_n(&task->counts->last_took, (uint64_t)as_asked, __ATOMIC_RELAXED);
        __atomic_fetch_add(&task->counts->lived, took, __ATOMIC_RELAXED);
    }
    for (;;)
        P3_CALL(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

#else
typedef int p3_no_shadows;
#endif
