/* Memory of hash tables: regions of the profile's file, mapped, from which levels are cut; without
 * a file, or without space, plain memory that is written at exit. Lock-free. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_REGIONS = 256, FIRST_REGION = 1 << 18, LARGEST_REGION = 1 << 26, UNIT = 64 };

struct region {
    char *base; /* a block header, then chunks */
    uint64_t size;
    uint64_t used; /* may pass size when several try to cut the last piece */
    int in_file;
};

static struct region regions[MAX_REGIONS];
static unsigned n_regions;
static struct region *current;

static uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

static uint64_t chunk_size(unsigned level) {
    return sizeof(struct p3_raw_chunk) + p3_level_slots(level) * sizeof(struct p3_slot);
}

static char *map(uint64_t size, int fd, uint64_t offset) {
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
    return base == MAP_FAILED ? NULL : base;
}

static void describe(char *base, uint64_t size) {
    struct p3_raw_block *block = (struct p3_raw_block *)base;
    block->size = size;
    block->kind = P3_BLOCK_ARENA;
    __atomic_store_n(&block->magic, P3_BLOCK_MAGIC, __ATOMIC_RELEASE);
}

/* A region with room for `need` bytes, its first piece taken; NULL without memory. */
static struct region *add_region(uint64_t need) {
    unsigned i = __atomic_fetch_add(&n_regions, 1, __ATOMIC_RELAXED);
    if (i >= MAX_REGIONS)
        return NULL;
    struct p3_file *file = p3_live_file();
    uint64_t size = (uint64_t)FIRST_REGION << (i < 8 ? i : 8), offset;
    if (size > LARGEST_REGION)
        size = LARGEST_REGION;
    if (size < need + UNIT)
        size = need + UNIT;
    size = round_up(size, file != NULL ? file->page : 4096);
    struct region *region = &regions[i];
    region->in_file = file != NULL && p3_file_claim(file, size, &offset) == 0;
    region->base = region->in_file ? map(size, file->fd, offset) : NULL;
    if (region->base == NULL) {
        region->in_file = 0;
        region->base = map(size, -1, 0);
    }
    if (region->base == NULL)
        return NULL;
    describe(region->base, size);
    region->used = UNIT + need;
    __atomic_store_n(&region->size, size, __ATOMIC_RELEASE);
    return region;
}

static char *cut(uint64_t need) {
    struct region *region = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    if (region != NULL) {
        uint64_t at = __atomic_fetch_add(&region->used, need, __ATOMIC_RELAXED);
        if (at + need <= region->size)
            return region->base + at;
    }
    struct region *fresh = add_region(need);
    if (fresh == NULL)
        return NULL;
    __atomic_compare_exchange_n(&current, &region, fresh, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    return fresh->base + UNIT;
}

struct p3_slot *p3_arena_level(const struct p3_table *table, unsigned level) {
    int saved = errno;
    struct p3_raw_chunk *chunk = (struct p3_raw_chunk *)cut(round_up(chunk_size(level), UNIT));
    errno = saved;
    if (chunk == NULL)
        return NULL;
    chunk->func = table->func;
    chunk->level = level;
    chunk->slots = p3_level_slots(level);
    chunk->size = table->size;
    __atomic_store_n(&chunk->magic, P3_CHUNK_MAGIC, __ATOMIC_RELEASE);
    return (struct p3_slot *)(chunk + 1);
}

void p3_arena_restart(void) { current = NULL; }

static int in_memory(const void *p) {
    for (unsigned i = 0; i < n_regions && i < MAX_REGIONS; i++)
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
    for (unsigned i = 0; i < n_regions && i < MAX_REGIONS; i++)
        if (regions[i].size != 0) {
            munmap(regions[i].base, regions[i].size);
            regions[i] = (struct region){0};
        }
    n_regions = 0;
}

int p3_arena_store(struct p3_file *file) {
    for (unsigned i = 0; i < n_regions && i < MAX_REGIONS; i++) {
        uint64_t offset, size = round_up(regions[i].size, file->page);
        if (regions[i].size == 0 || regions[i].in_file)
            continue;
        int failed = p3_file_claim(file, size, &offset);
        ((struct p3_raw_block *)regions[i].base)->size = size;
        if (!failed)
            failed = p3_file_write(file, regions[i].base, regions[i].size, offset);
        ((struct p3_raw_block *)regions[i].base)->size = regions[i].size;
        if (failed)
            return failed;
    }
    return 0;
}
