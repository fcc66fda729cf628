// SPDX-License-Identifier: MIT OR Apache-2.0
/* Memory of hash tables: regions of the profile's file, mapped, from which levels are cut; without
 * a file, or without space, plain memory that is written at exit. Lock-free.
 *
 * Calls: p3_crc.c, p3_file.c, p3_layout.c, p3_live.c, p3_pool.c, p3_quiet.c.
 * In signal handlers: p3_arena_level, p3_arena_each. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_REGIONS = 256, FIRST_REGION = 1 << 16, DOUBLINGS = 10, UNIT = P3_CHUNK_ALIGN };

struct region {
    int taken;
    char *base; /* a block header, then chunks */
    uint64_t size; /* 0: not yet */
    int in_file;
};

static struct region regions[MAX_REGIONS];
static struct region *current;
/* What the first levels of all tables take that were not there. */
static uint64_t reserved;
/* Levels that earlier processes filled, by function, level and shift: a hash table, linear probing. */
static struct {
    struct p3_raw_chunk **chunks;
    uint64_t slots; /* a power of two; 0: there are none */
} left;
/* Whether these were looked for. */
static int was_read;
/* Attempts without memory since the last success. */
static unsigned failures;

static uint64_t chunk_size(unsigned level) {
    uint64_t size = sizeof(struct p3_raw_chunk) + p3_level_slots(level) * sizeof(struct p3_slot);
    return p3_round_up(size, UNIT);
}

static struct p3_raw_block *block_of(const struct region *region) { return (struct p3_raw_block *)region->base; }

static void describe(const struct region *region, uint64_t size) {
    struct p3_raw_block *block = block_of(region);
    block->size = size;
    block->kind = P3_BLOCK_ARENA;
    block->module = (uint32_t)(region - regions);
    block->crc = p3_block_crc(block);
    __atomic_store_n(&block->magic, P3_BLOCK_MAGIC, __ATOMIC_RELEASE);
}

/* Maps the file over memory that is there already: no room is claimed for what cannot be mapped. */
static int put_in_file(struct p3_file *file, char *base, uint64_t size) {
    int fd = file == NULL ? -1 : p3_file_open(file);
    uint64_t offset;
    if (fd < 0)
        return 0;
    int done = p3_file_claim(file, fd, size, &offset) == 0;
    if (done && p3_map_file(base, size, fd, offset) != 0) {
        p3_file_unclaim(file, fd, size, offset);
        done = 0;
    }
    close(fd);
    return done;
}

static struct region *free_region(void) {
    for (unsigned i = 0; i < MAX_REGIONS; i++)
        if (__atomic_exchange_n(&regions[i].taken, 1, __ATOMIC_RELAXED) == 0)
            return &regions[i];
    return NULL;
}

/* Regions double up to 64 MiB, and again with each 32 of that size: their number suffices for any memory. */
static uint64_t size_of(const struct region *region, uint64_t need, uint64_t page) {
    uint64_t i = (uint64_t)(region - regions);
    uint64_t size = (uint64_t)FIRST_REGION << (i < DOUBLINGS ? i : DOUBLINGS + i / 32);
    return p3_round_up(size < need + UNIT ? need + UNIT : size, page);
}

/* Each attempt costs system calls, and lost counts are many: most of them do not try. */
static int hopeless(void) {
    unsigned n = __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    return n >= 16 && n % 1024 != 0;
}

/* A region with room for `need` bytes, `taken` of them used; NULL without memory. */
static struct region *add_region(uint64_t need, uint64_t taken) {
    struct region *region = hopeless() ? NULL : free_region();
    if (region == NULL)
        return NULL;
    struct p3_file *file = p3_live_file();
    uint64_t size = size_of(region, need, file != NULL ? file->page : 4096);
    region->base = p3_map(size);
    if (region->base == NULL) {
        __atomic_store_n(&region->taken, 0, __ATOMIC_RELEASE);
        return NULL;
    }
    __atomic_store_n(&failures, 0, __ATOMIC_RELAXED);
    region->in_file = put_in_file(file, region->base, size);
    if (!region->in_file)
        p3_live_unsaved();
    block_of(region)->used = UNIT + taken;
    describe(region, size);
    __atomic_store_n(&region->size, size, __ATOMIC_RELEASE);
    return region;
}

static uint64_t room(const struct region *region) {
    return region->size - __atomic_load_n(&block_of(region)->used, __ATOMIC_RELAXED);
}

/* A piece of the region; NULL when it has no room, which stays as it is for smaller ones. What is used is in the
 * file: a piece that was cut and not described when the process was killed is not cut again. */
static char *cut_from(struct region *region, uint64_t need) {
    uint64_t *used = &block_of(region)->used, at = __atomic_load_n(used, __ATOMIC_RELAXED);
    while (need <= region->size - at)
        if (__atomic_compare_exchange_n(used, &at, at + need, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return region->base + at;
    return NULL;
}

static char *cut(uint64_t need) {
    struct region *region = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    char *piece = region == NULL ? NULL : cut_from(region, need);
    if (piece != NULL)
        return piece;
    struct region *fresh = add_region(need, need);
    if (fresh == NULL)
        return NULL;
    /* Of two that come at once one wins; the room of the other is lost, its piece is not. */
    __atomic_compare_exchange_n(&current, &region, fresh, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    return fresh->base + UNIT;
}

static uint32_t chunk_crc(const struct p3_raw_chunk *chunk) {
    enum { BEGIN = offsetof(struct p3_raw_chunk, func), END = offsetof(struct p3_raw_chunk, reserved) };
    return p3_shift_crc(p3_crc32(0, (const char *)chunk + BEGIN, END - BEGIN), chunk->shift);
}

struct p3_slot *p3_arena_level(const struct p3_table *table, unsigned level) {
    struct p3_quiet before = p3_enter();
    struct p3_raw_chunk *chunk = (struct p3_raw_chunk *)cut(chunk_size(level));
    p3_leave(before);
    if (chunk == NULL)
        return NULL;
    chunk->func = table->func;
    chunk->level = level;
    chunk->slots = p3_level_slots(level);
    chunk->size = table->size;
    chunk->shift = (uint32_t)table->shift;
    chunk->crc = chunk_crc(chunk);
    __atomic_store_n(&chunk->magic, P3_CHUNK_MAGIC, __ATOMIC_RELEASE);
    return (struct p3_slot *)(chunk + 1);
}

/* Room that earlier processes left will do. */
static struct region *with_room(void) {
    for (unsigned i = 0; i < MAX_REGIONS; i++)
        if (regions[i].size != 0 && regions[i].in_file && room(&regions[i]) >= reserved)
            return &regions[i];
    return NULL;
}

static void make_room(void) {
    struct region *found = current != NULL && room(current) >= reserved ? current : with_room();
    if (found == NULL && reserved != 0)
        found = add_region(reserved, 0);
    if (found != NULL)
        current = found;
}

/* The chunk at `base`, if it is whole; NULL also where nothing is. */
static struct p3_raw_chunk *chunk_at(char *base, uint64_t room_left) {
    struct p3_raw_chunk *chunk = (struct p3_raw_chunk *)base;
    int whole = room_left >= sizeof *chunk && chunk->magic == P3_CHUNK_MAGIC && chunk->crc == chunk_crc(chunk) &&
                chunk->level < P3_LEVELS && chunk->slots == p3_level_slots(chunk->level) &&
                chunk_size(chunk->level) <= room_left;
    return whole ? chunk : NULL;
}

/* The next chunk of a region from `*at` on, which is moved behind it. */
static struct p3_raw_chunk *next_chunk(const struct region *region, uint64_t *at) {
    uint64_t end = block_of(region)->used;
    while (*at < end) {
        struct p3_raw_chunk *chunk = chunk_at(region->base + *at, end - *at);
        *at += chunk != NULL ? chunk_size(chunk->level) : UNIT;
        if (chunk != NULL)
            return chunk;
    }
    return NULL;
}

/* Where the chunk is, or would be. */
static struct p3_raw_chunk **place_of(uint32_t func, uint32_t level, uint32_t shift) {
    uint64_t at = ((((uint64_t)shift << 32) + func) * P3_LEVELS + level) * P3_HASH_FACTOR >> 32;
    struct p3_raw_chunk **place;
    while (*(place = &left.chunks[at & (left.slots - 1)]) != NULL &&
           ((*place)->func != func || (*place)->level != level || (*place)->shift != shift))
        at++;
    return place;
}

/* The number of chunks of a region, which are put into the index once there is one. Of several for one level
 * the first is taken: what the others hold counts as well. */
static uint64_t index_region(const struct region *region) {
    struct p3_raw_chunk *chunk;
    uint64_t n = 0;
    for (uint64_t at = UNIT; (chunk = next_chunk(region, &at)) != NULL; n++) {
        struct p3_raw_chunk **place = left.slots == 0 ? NULL : place_of(chunk->func, chunk->level, chunk->shift);
        if (place != NULL && *place == NULL)
            *place = chunk;
    }
    return n;
}

static uint64_t index_regions(void) {
    uint64_t n = 0;
    for (unsigned i = 0; i < MAX_REGIONS; i++)
        if (regions[i].size != 0 && regions[i].in_file)
            n += index_region(&regions[i]);
    return n;
}

static void index_chunks(void) {
    uint64_t n = index_regions(), slots = 64;
    while (slots < 2 * n)
        slots *= 2;
    left.chunks = n == 0 ? NULL : p3_map(slots * sizeof *left.chunks);
    if (left.chunks == NULL)
        return;
    left.slots = slots;
    index_regions();
}

/* A region over an arena's block at `offset`; without memory it stays in the file, and counts as well. */
static void map_region(const struct p3_raw_block *block, int fd, uint64_t offset) {
    struct region *region = free_region();
    char *base = region == NULL ? NULL : p3_map(block->size);
    if (base == NULL || p3_map_file(base, block->size, fd, offset) != 0) {
        if (base != NULL)
            munmap(base, block->size);
        if (region != NULL)
            region->taken = 0;
        return;
    }
    *region = (struct region){.taken = 1, .base = base, .size = block->size, .in_file = 1};
}

static int is_arena(const struct p3_raw_block *block) {
    return block->kind == P3_BLOCK_ARENA && block->crc == p3_block_crc(block) && block->used >= UNIT &&
           block->used <= block->size && block->used % UNIT == 0;
}

void p3_arena_restart(void) {
    current = NULL;
    was_read = 0;
}

/* What earlier processes left in the file. */
static void read_left(void) {
    struct p3_file *file = p3_live_file();
    struct p3_raw_block block;
    uint64_t at = 0;
    was_read = 1;
    int fd = file == NULL || !file->shared ? -1 : p3_file_borrow(file);
    if (fd < 0)
        return;
    while (p3_pool_next(file, fd, &at, &block))
        if (is_arena(&block))
            map_region(&block, fd, at - block.size);
    p3_file_give_back(file, fd);
    index_chunks();
}

void p3_arena_levels(struct p3_table *table) {
    for (uint32_t level = 0; level < P3_LEVELS && left.slots != 0; level++) {
        struct p3_raw_chunk *chunk = *place_of(table->func, level, (uint32_t)table->shift);
        if (chunk != NULL && chunk->size == table->size)
            table->level[level] = (struct p3_slot *)(chunk + 1);
    }
}

static void add_tables(struct p3_module *module) {
    if (module->n_tables != 0 && !was_read)
        read_left();
    for (uint32_t i = 0; i < module->n_tables; i++) {
        struct p3_table *table = &module->tables[i];
        if (table->level[0] == NULL)
            p3_arena_levels(table);
        for (unsigned level = 0; level < 2; level++)
            reserved += table->level[level] == NULL ? chunk_size(level) : 0;
    }
}

void p3_arena_tables(struct p3_module *first, const struct p3_module *end, uint64_t more) {
    reserved += more;
    for (struct p3_module *m = first; m != end; m = m->next)
        add_tables(m);
    make_room();
}

int p3_arena_in_memory(const struct p3_slot *slots) {
    for (unsigned i = 0; i < MAX_REGIONS && slots != NULL; i++) {
        uintptr_t distance = (uintptr_t)slots - (uintptr_t)regions[i].base;
        if (regions[i].size != 0 && distance < regions[i].size)
            return !regions[i].in_file;
    }
    return 0;
}

void p3_arena_forget(void) {
    current = NULL;
    reserved = 0;
    failures = 0;
    if (left.slots != 0)
        munmap(left.chunks, left.slots * sizeof *left.chunks);
    left.slots = 0;
    for (unsigned i = 0; i < MAX_REGIONS; i++) {
        if (regions[i].size != 0)
            munmap(regions[i].base, regions[i].size);
        if (regions[i].taken != 0)
            regions[i] = (struct region){0};
    }
}

int p3_arena_each(int (*each)(const char *base, uint64_t size, uint32_t number)) {
    int failed = 0;
    for (uint32_t i = 0; i < MAX_REGIONS && !failed; i++) {
        uint64_t size = __atomic_load_n(&regions[i].size, __ATOMIC_ACQUIRE);
        if (size != 0 && regions[i].in_file)
            failed = each(regions[i].base, size, i);
    }
    return failed;
}

/* What was counted before there was a file is counted there by now, and its chunks are gone. */
static int holds_any(const struct region *region) {
    uint64_t at = UNIT;
    return next_chunk(region, &at) != NULL;
}

static int store(struct p3_file *file, int fd, struct region *region) {
    uint64_t offset, size = p3_round_up(region->size, file->page);
    int failed = p3_file_claim(file, fd, size, &offset);
    if (failed)
        return failed;
    describe(region, size);
    return p3_file_write(fd, region->base, region->size, offset);
}

static int is_unsaved(const struct region *region) {
    return region->size != 0 && !region->in_file && holds_any(region);
}

int p3_arena_is_unsaved(void) {
    for (unsigned i = 0; i < MAX_REGIONS; i++)
        if (is_unsaved(&regions[i]))
            return 1;
    return 0;
}

int p3_arena_store(struct p3_file *file, int fd) {
    int failed = 0;
    for (unsigned i = 0; i < MAX_REGIONS && !failed; i++)
        if (is_unsaved(&regions[i]))
            failed = store(file, fd, &regions[i]);
    return failed;
}
