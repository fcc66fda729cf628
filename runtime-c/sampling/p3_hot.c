// SPDX-License-Identifier: MIT OR Apache-2.0
/* The hot list: a concise sample of subpaths, or a counting one (Gibbons & Matias, SIGMOD 1998), in the profile while
 * there is one.
 *
 * Entries are appended, and their counts only grow, so that a reader at any moment sees a list that was; where there is
 * no room, the threshold doubles, the list is thinned, and what stays is written to the other area. One store then
 * makes that the list: a process that is killed loses no more than what it was about to add.
 *
 * Concise: a point is listed with a probability of 1 / threshold, and samples are drawn so much more rarely. Counting:
 * that is the probability of the first point of a subpath, and all that follow it are counted; samples are always drawn
 * with the first period.
 *
 * Calls: p3_chance.c, p3_crc.c, p3_file.c, p3_layout.c, p3_live.c, p3_name.c, p3_pool.c, p3_process.c.
 * In signal handlers: p3_hot_add, p3_hot_empty, p3_hot_begun, p3_hot_mend, p3_hot_crowded, p3_hot_doublings,
 * p3_hot_sampling. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { UNIT = 4, MOST_DOUBLINGS = 24 };

unsigned p3_hot_generation;
static const struct p3_sampling *sampling;
static struct p3_raw_block *block; /* mapped; NULL: there is no list */
static int in_file;
static const void *locked; /* by whom; NULL: nobody */
static uint64_t chance;
/* Where entries are, in units, by their hash: linear probing; 0: nothing. */
static uint32_t *index_of;
static uint64_t slots; /* a power of two */
static uint64_t entries;

static struct p3_raw_sample *sample(void) { return (struct p3_raw_sample *)(block + 1); }

static char *area(uint64_t i) { return (char *)block + P3_SAMPLE_AREAS + i * sample()->area; }

static uint64_t active(void) { return sample()->state & 1; }

const struct p3_sampling *p3_hot_sampling(void) { return block != NULL ? sampling : NULL; }

/* The state: bit 0 names the area, DOUBLED counts doublings, what is above how often the list was emptied. */
enum { DOUBLED_BITS = 31 };

/* The threshold is two to the power of this. */
static unsigned doublings_now(void) {
    uint64_t state = __atomic_load_n(&sample()->state, __ATOMIC_RELAXED);
    return (unsigned)(state >> 1 & ((UINT64_C(1) << DOUBLED_BITS) - 1));
}

static int is_counting(void) { return (sampling->flags & P3_COUNTING) != 0; }

unsigned p3_hot_doublings(void) { return is_counting() ? 0 : doublings_now(); }

/* A quarter of the memory finds entries, a word for each 16 bytes of it; the rest is two areas. */
static uint64_t slots_in(uint64_t memory) {
    uint64_t n = 16;
    while (n * 2 * sizeof *index_of <= memory / 4)
        n *= 2;
    return n;
}

static uint64_t area_in(uint64_t memory) {
    return (memory - slots_in(memory) * sizeof *index_of - P3_SAMPLE_AREAS) / 2 / UNIT * UNIT;
}

static uint64_t size_of_entry(const struct p3_raw_subpath *e) {
    return sizeof *e + p3_round_up(e->size & 0xffff, UNIT);
}

/* FNV-1a. */
static uint64_t hash(uint32_t size, const uint8_t *bytes) {
    uint64_t h = 0xcbf29ce484222325u ^ size;
    for (uint32_t i = 0; i < (size & 0xffff); i++)
        h = (h ^ bytes[i]) * 0x100000001b3u;
    return h ^ h >> 32;
}

/* The slot of an entry, or the empty one where it would be. At most half of the slots are taken. */
static uint32_t *slot_of(const char *list, uint32_t size, const uint8_t *bytes) {
    for (uint64_t i = hash(size, bytes);; i++) {
        uint32_t *slot = &index_of[i & (slots - 1)];
        const struct p3_raw_subpath *e = (const void *)(list + (uint64_t)(*slot - 1) * UNIT);
        if (*slot == 0 || (e->size == size && memcmp(e + 1, bytes, size & 0xffff) == 0))
            return slot;
    }
}

/* Finds an entry of `list` from now on. */
static void enter(const char *list, uint64_t at) {
    const struct p3_raw_subpath *e = (const void *)(list + at);
    *slot_of(list, e->size, (const uint8_t *)(e + 1)) = (uint32_t)(at / UNIT) + 1;
    entries++;
}

static void find_none(void) {
    memset(index_of, 0, slots * sizeof *index_of);
    entries = 0;
}

/* What stays of a count when the threshold doubles. In a counting sample the first point stays with a probability of
 * one half; if it does not, each of those behind it is the first one with the probability of a new one. */
static uint32_t thinned(uint32_t count, unsigned doublings) {
    if (!is_counting())
        return p3_chance_heads(&chance, count);
    if (p3_chance_heads(&chance, 1) != 0)
        return count;
    uint64_t gone = 1 + p3_chance_skip(&chance, UINT64_C(1) << doublings);
    return gone < count ? count - (uint32_t)gone : 0;
}

/* Doubles the threshold. */
static void thin(void) {
    struct p3_raw_sample *s = sample();
    uint64_t from = active(), to = 1 - from, kept = 0;
    unsigned doublings = doublings_now() + 1;
    find_none();
    for (uint64_t at = 0; at < s->used[from];) {
        const struct p3_raw_subpath *e = (const void *)(area(from) + at);
        struct p3_raw_subpath *copy = (void *)(area(to) + kept);
        uint32_t count = thinned(e->count, doublings);
        at += size_of_entry(e);
        if (count == 0)
            continue;
        memcpy(copy, e, size_of_entry(e));
        copy->count = count;
        enter(area(to), kept);
        kept += size_of_entry(copy);
    }
    s->used[to] = kept;
    __atomic_store_n(&s->state, (s->state | 1) + 1 + to, __ATOMIC_RELEASE);
}

static int has_room(uint64_t need) {
    return sample()->used[active()] + need <= sample()->area && entries < slots / 2;
}

/* Behind all others. */
static void append(uint32_t size, const uint8_t *bytes) {
    struct p3_raw_sample *s = sample();
    uint64_t at = s->used[active()];
    struct p3_raw_subpath *e = (void *)(area(active()) + at);
    *e = (struct p3_raw_subpath){.count = 1, .size = size};
    memcpy(e + 1, bytes, size & 0xffff);
    enter(area(active()), at);
    __atomic_store_n(&s->used[active()], at + size_of_entry(e), __ATOMIC_RELEASE);
}

/* Whether a point that was drawn at so many doublings is one at the present ones. */
static int stays(unsigned *doublings) {
    for (; *doublings < doublings_now(); ++*doublings)
        if (p3_chance_heads(&chance, 1) == 0)
            return 0;
    return 1;
}

/* One more, if it is listed. */
static int count(uint32_t size, const uint8_t *bytes) {
    uint32_t *slot = slot_of(area(active()), size, bytes);
    if (*slot == 0)
        return 0;
    struct p3_raw_subpath *e = (void *)(area(active()) + (uint64_t)(*slot - 1) * UNIT);
    if (e->count != UINT32_MAX)
        __atomic_store_n(&e->count, e->count + 1, __ATOMIC_RELAXED);
    return 1;
}

static void add(uint32_t size, const uint8_t *bytes, unsigned doublings) {
    struct p3_raw_subpath probe = {.size = size};
    uint64_t need = size_of_entry(&probe);
    if (is_counting() ? count(size, bytes) || !stays(&doublings) : !stays(&doublings) || count(size, bytes))
        return;
    while (!has_room(need) && doublings < MOST_DOUBLINGS) {
        thin();
        if (!stays(&doublings))
            return;
    }
    if (has_room(need))
        append(size, bytes);
}

/* Such a subpath would crowd out all others. */
static int too_long(const struct p3_encoder *e) { return e->full || e->size > sample()->area / 4; }

static int lock(const void *who) {
    const void *nobody = NULL;
    return __atomic_compare_exchange_n(&locked, &nobody, who, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void unlock(void) { __atomic_store_n(&locked, NULL, __ATOMIC_RELEASE); }

int p3_hot_add(const struct p3_encoder *e, unsigned length, unsigned doublings, const void *who) {
    if (!lock(who))
        return 0;
    if (block == NULL)
        ;
    else if (too_long(e))
        __atomic_fetch_add(&sample()->long_ones, 1, __ATOMIC_RELAXED);
    else
        add(e->size | length << 16, e->bytes, doublings);
    unlock();
    return 1;
}

void p3_hot_begun(unsigned doublings) {
    __atomic_fetch_add(&sample()->blocks, sampling->period << doublings, __ATOMIC_RELAXED);
}

void p3_hot_crowded(unsigned doublings) {
    __atomic_fetch_add(&sample()->crowded, sampling->period << doublings, __ATOMIC_RELAXED);
}

static void describe(uint64_t size) {
    struct p3_raw_sample *s = sample();
    s->period = sampling->period;
    s->area = area_in(sampling->memory);
    s->flags = sampling->flags & (P3_WITHIN | P3_COUNTING);
    s->n_lengths = sampling->n_lengths;
    memcpy(s->lengths, sampling->lengths, sizeof s->lengths);
    memcpy(s->chances, sampling->chances, sizeof s->chances);
    s->crc = p3_crc32(0, s, offsetof(struct p3_raw_sample, crc));
    block->size = size;
    block->kind = P3_BLOCK_SAMPLE;
    block->crc = p3_block_crc(block);
    __atomic_store_n(&block->magic, P3_BLOCK_MAGIC, __ATOMIC_RELEASE);
}

static uint64_t block_size(uint64_t page) {
    return p3_round_up(P3_SAMPLE_AREAS + 2 * area_in(sampling->memory), page);
}

/* Where the list of earlier processes is; 0 when there is none. */
static uint64_t find(const struct p3_file *file, int fd) {
    struct p3_raw_block found;
    uint64_t at = 0;
    while (file->shared && p3_pool_next(file, fd, &at, &found))
        if (found.kind == P3_BLOCK_SAMPLE && found.size == block_size(file->page))
            return at - found.size;
    return 0;
}

/* Whether the entries of a list that was taken over lie in it; finds them from now on. */
static int take_over(void) {
    struct p3_raw_sample *s = sample();
    uint64_t used = s->used[active()];
    if (s->area != area_in(sampling->memory) || used > s->area)
        return 0;
    for (uint64_t at = 0; at < used;) {
        const struct p3_raw_subpath *e = (const void *)(area(active()) + at);
        if (used - at < sizeof *e || used - at < size_of_entry(e) || entries >= slots / 2)
            return 0;
        enter(area(active()), at);
        at += size_of_entry(e);
    }
    return 1;
}

static int put_in_file(struct p3_file *file, uint64_t size) {
    int fd = file == NULL ? -1 : p3_file_open(file);
    if (fd < 0)
        return 0;
    uint64_t offset = find(file, fd);
    int fresh = offset == 0, done = !fresh || p3_file_claim(file, fd, size, &offset) == 0;
    if (done && p3_map_file(block, size, fd, offset) != 0) {
        if (fresh)
            p3_file_unclaim(file, fd, size, offset);
        done = 0;
    }
    close(fd);
    return done;
}

static void seed(const struct p3_module *module) {
    memcpy(&chance, p3_process()->unique, sizeof chance);
    if ((sampling->flags & P3_SEEDED) != 0)
        chance = sampling->seed;
    p3_seed_wanted(&chance);
    chance += (uint64_t)module->copy << 32;
    p3_chance_next(&chance);
}

void p3_hot_mend(const void *who) {
    if (who == NULL || __atomic_load_n(&locked, __ATOMIC_RELAXED) != who)
        return;
    find_none();
    if (block != NULL && !take_over())
        __atomic_store_n(&sample()->used[active()], 0, __ATOMIC_RELEASE);
    unlock();
}

uint64_t p3_hot_seed(void) {
    static uint64_t threads;
    uint64_t state = chance ^ __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED) << 48;
    return p3_chance_next(&state);
}

void p3_hot_start(const struct p3_module *module) {
    if (block != NULL || module->sampling == NULL)
        return;
    sampling = module->sampling;
    struct p3_file *file = p3_live_file();
    uint64_t size = block_size(file != NULL ? file->page : 4096);
    slots = slots_in(sampling->memory);
    index_of = p3_map(slots * sizeof *index_of);
    block = index_of == NULL ? NULL : p3_map(size);
    if (block == NULL) {
        p3_live_lost();
        return;
    }
    in_file = put_in_file(file, size);
    if (!in_file)
        p3_live_unsaved();
    entries = 0;
    seed(module);
    if (block->magic != P3_BLOCK_MAGIC)
        describe(size);
    else if (!take_over()) {
        find_none();
        sample()->used[active()] = 0;
    }
}

void p3_hot_forget(void) {
    if (block != NULL) {
        munmap(block, block->size);
        munmap(index_of, slots * sizeof *index_of);
    }
    block = NULL;
    locked = NULL;
    p3_hot_generation++;
}

int p3_hot_is_unsaved(void) { return block != NULL && !in_file; }

int p3_hot_store(struct p3_file *file, int fd) {
    uint64_t offset;
    if (!p3_hot_is_unsaved())
        return 0;
    uint64_t size = p3_round_up(block->size, file->page);
    block->size = size;
    block->crc = p3_block_crc(block);
    int failed = fd < 0 ? EBADF : p3_file_claim(file, fd, size, &offset);
    if (!failed)
        failed = p3_file_write(fd, block, block_size(4096), offset);
    return failed;
}

/* Who has it adds to it for some microseconds, unless it is the thread that was interrupted. */
static int lock_soon(void) {
    for (int i = 0; i < 100000; i++)
        if (lock(&block))
            return 1;
    return 0;
}

/* Takes what was counted out of a number to which threads add. */
static void take(uint64_t *number, uint64_t counted) { __atomic_fetch_sub(number, counted, __ATOMIC_RELAXED); }

/* The other area is the list, so that a reader of this one sees what was, or that it is no more. */
static void empty(const struct p3_raw_sample *counted) {
    struct p3_raw_sample *s = sample();
    uint64_t to = 1 - active();
    __atomic_store_n(&s->used[to], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&s->state, (s->state ^ 1) + (UINT64_C(1) << (DOUBLED_BITS + 1)), __ATOMIC_RELEASE);
    take(&s->blocks, counted->blocks);
    take(&s->crowded, counted->crowded);
    take(&s->long_ones, counted->long_ones);
    find_none();
}

static int write_counted(struct p3_file *file, int fd, const struct p3_raw_sample *counted) {
    uint64_t offset, size = p3_round_up(block->size, file->page), used = P3_SAMPLE_AREAS + active() * counted->area;
    int failed = p3_file_claim(file, fd, size, &offset);
    if (!failed)
        failed = p3_file_write(fd, area(active()), counted->used[active()], offset + used);
    if (!failed)
        failed = p3_file_write(fd, counted, sizeof *counted, offset + sizeof *block);
    return failed ? failed : p3_file_write(fd, block, sizeof *block, offset);
}

int p3_hot_empty(struct p3_file *file, int fd) {
    if (block == NULL)
        return 0;
    if (!lock_soon())
        return EBUSY;
    struct p3_raw_sample counted = *sample();
    counted.blocks = __atomic_load_n(&sample()->blocks, __ATOMIC_RELAXED);
    counted.crowded = __atomic_load_n(&sample()->crowded, __ATOMIC_RELAXED);
    counted.long_ones = __atomic_load_n(&sample()->long_ones, __ATOMIC_RELAXED);
    int failed = file == NULL ? 0 : write_counted(file, fd, &counted);
    if (!failed)
        empty(&counted);
    unlock();
    return failed;
}
