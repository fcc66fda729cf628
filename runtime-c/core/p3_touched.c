// SPDX-License-Identifier: MIT OR Apache-2.0
/* Which pages of memory hold anything, where most were never touched: to read those would bring in each of them, which
 * is cheaper than to ask only where they are few.
 *
 * Calls: p3_layout.c.
 * In signal handlers: all of it.
 *
 * /proc/self/pagemap has 64 bits for each page: it is in memory, in swap, or neither, as one that was never touched. (mincore()
 * does not know swap.) Where there is none, or it tells of another process, as it does under an emulator, all pages are read. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 512, FEW = 16 };

struct pagemap {
    int fd; /* -1: nothing is known */
    uint64_t page; /* bytes */
    uint64_t n; /* number of entries */
    uint64_t first; /* number of the page of the first of */
    uint64_t *entries;
    uint64_t piece[PIECE];
};

static int is_touched(uint64_t entry) { return (entry >> 62) != 0; }

static int look(const struct pagemap *map, uint64_t number, uint64_t n, uint64_t *entries) {
    size_t size = n * sizeof *entries;
    return pread(map->fd, entries, size, (off_t)(number * sizeof *entries)) == (ssize_t)size;
}

/* Whether a page that was written is there. (To read one that was not would not do: an emulator may leave such a read out.) */
static int knows_us(const struct pagemap *map) {
    uint64_t entry;
    return look(map, (uintptr_t)map / map->page, 1, &entry) && is_touched(entry);
}

static void forget(struct pagemap *map) {
    if (map->fd >= 0)
        close(map->fd);
    map->fd = -1;
}

/* How many of `n` pages, from this one on, were certainly never touched. */
static uint64_t untouched(struct pagemap *map, const char *page, uint64_t n) {
    uint64_t number = (uintptr_t)page / map->page, found = 0;
    if (map->fd >= 0 && number - map->first >= map->n) {
        map->first = number;
        if (!look(map, number, map->n, map->entries))
            forget(map);
    }
    if (map->fd < 0)
        return 0;
    uint64_t at = number - map->first, most = n < map->n - at ? n : map->n - at;
    while (found < most && !is_touched(map->entries[at + found]))
        found++;
    return found;
}

static int is_zero(const uint64_t *words, uint64_t n) {
    uint64_t any = 0;
    for (uint64_t i = 0; i < n; i++)
        any |= words[i];
    return any == 0;
}

/* Of many pages all entries are had at once, where there is memory. */
static void begin(struct pagemap *map, uint64_t pages) {
    map->fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (map->fd >= 0 && !knows_us(map))
        forget(map);
    uint64_t *more = map->fd >= 0 && pages > PIECE ? p3_map(pages * sizeof *more) : NULL;
    map->entries = more != NULL ? more : map->piece;
    map->n = more != NULL ? pages : PIECE;
    map->first = UINT64_MAX - map->n;
}

static void end(struct pagemap *map) {
    if (map->entries != map->piece)
        munmap(map->entries, map->n * sizeof *map->entries);
    forget(map);
}

int p3_touched_each(const void *from, uint64_t size, p3_touched_do *each, void *with) {
    struct pagemap map = {.fd = -1, .page = (uint64_t)sysconf(_SC_PAGESIZE), .entries = map.piece};
    int failed = 0;
    if (size > FEW * map.page)
        begin(&map, size / map.page);
    for (uint64_t at = 0; at < size && !failed;) {
        const char *page = (const char *)from + at;
        uint64_t skipped = untouched(&map, page, (size - at) / map.page) * map.page;
        if (skipped == 0 && !is_zero((const void *)page, map.page / sizeof(uint64_t)))
            failed = each(with, at, map.page);
        at += skipped == 0 ? map.page : skipped;
    }
    end(&map);
    return failed;
}
