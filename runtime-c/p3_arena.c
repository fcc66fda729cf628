/* Memory of hash tables: regions of the profile's file, mapped, from which levels are cut; without
 * a file, or without space, plain memory that is written at exit. Lock-free.
 *
 * Calls: p3_crc.c, p3_file.c, p3_layout.c, p3_live.c, p3_quiet.c.
 * In signal handlers: p3_arena_level. */
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
    uint64_t used;
    int in_file;
};

static struct region regions[MAX_REGIONS];
static struct region *current;
/* What the first levels of all tables take. */
static uint64_t reserved;
/* Attempts without memory since the last success. */
static unsigned failures;

static uint64_t chunk_size(unsigned level) {
    uint64_t size = sizeof(struct p3_raw_chunk) + p3_level_slots(level) * sizeof(struct p3_slot);
    return p3_round_up(size, UNIT);
}

static void describe(char *base, uint64_t size) {
    struct p3_raw_block *block = (struct p3_raw_block *)base;
    block->size = size;
    block->kind = P3_BLOCK_ARENA;
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
    describe(region->base, size);
    region->used = UNIT + taken;
    __atomic_store_n(&region->size, size, __ATOMIC_RELEASE);
    return region;
}

/* A piece of the region; NULL when it has no room, which stays as it is for smaller ones. */
static char *cut_from(struct region *region, uint64_t need) {
    uint64_t at = __atomic_load_n(&region->used, __ATOMIC_RELAXED);
    while (need <= region->size - at)
        if (__atomic_compare_exchange_n(&region->used, &at, at + need, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
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
    return p3_crc32(0, (const char *)chunk + BEGIN, END - BEGIN);
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
    chunk->crc = chunk_crc(chunk);
    __atomic_store_n(&chunk->magic, P3_CHUNK_MAGIC, __ATOMIC_RELEASE);
    return (struct p3_slot *)(chunk + 1);
}

void p3_arena_reserve(uint64_t tables, uint64_t more) {
    reserved += tables * (chunk_size(0) + chunk_size(1)) + more;
    if (reserved == 0 || (current != NULL && current->size - current->used >= reserved))
        return;
    struct region *fresh = add_region(reserved, 0);
    if (fresh != NULL)
        current = fresh;
}

void p3_arena_restart(void) { current = NULL; }

static int in_memory(const void *p) {
    for (unsigned i = 0; i < MAX_REGIONS; i++)
        if ((const char *)p - regions[i].base >= 0 &&
            (uint64_t)((const char *)p - regions[i].base) < regions[i].size)
            return !regions[i].in_file;
    return 0;
}

void p3_arena_move(struct p3_table *table) {
    for (unsigned level = 0; level < P3_LEVELS && table->level[level] != NULL; level++) {
        struct p3_slot *old = table->level[level];
        struct p3_slot *slots = in_memory(old) ? p3_arena_level(table, level) : NULL;
        if (slots == NULL)
            continue;
        uint64_t size = p3_level_slots(level) * sizeof *slots;
        memcpy(slots, old, size);
        table->level[level] = slots;
        memset((struct p3_raw_chunk *)old - 1, 0, sizeof(struct p3_raw_chunk) + size);
    }
}

void p3_arena_forget(void) {
    current = NULL;
    reserved = 0;
    failures = 0;
    for (unsigned i = 0; i < MAX_REGIONS; i++) {
        if (regions[i].size != 0)
            munmap(regions[i].base, regions[i].size);
        regions[i] = (struct region){0};
    }
}

static int store(struct p3_file *file, int fd, struct region *region) {
    uint64_t offset, size = p3_round_up(region->size, file->page);
    int failed = p3_file_claim(file, fd, size, &offset);
    if (failed)
        return failed;
    describe(region->base, size);
    return p3_file_write(fd, region->base, region->size, offset);
}

int p3_arena_store(struct p3_file *file, int fd) {
    int failed = 0;
    for (unsigned i = 0; i < MAX_REGIONS && !failed; i++)
        if (regions[i].size != 0 && !regions[i].in_file)
            failed = store(file, fd, &regions[i]);
    return failed;
}
