// SPDX-License-Identifier: MIT OR Apache-2.0
/* Which pages of memory hold anything, where most were never touched: to read those would bring in each of them.
 *
 * Calls: nothing.
 * In signal handlers: all of it.
 *
 * /proc/self/pagemap has 64 bits for each page: it is in memory, in swap, or neither, as one that was never touched. (mincore()
 * does not know swap.) Where there is none, or it tells of another process, as it does under an emulator, all pages are read. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <fcntl.h>
#include <unistd.h>

enum { PIECE = 512 };

struct pagemap {
    int fd; /* -1: nothing is known */
    int believed;
    uint64_t page; /* bytes */
    uint64_t first; /* number of the page of the first of */
    uint64_t entries[PIECE];
};

static int is_touched(uint64_t entry) { return (entry >> 62) != 0; }

static int look(const struct pagemap *map, uint64_t number, uint64_t n, uint64_t *entries) {
    size_t size = n * sizeof *entries;
    return pread(map->fd, entries, size, (off_t)(number * sizeof *entries)) == (ssize_t)size;
}

/* A page that is said never to have been touched has to be there once it was read. */
static int tells_of_us(const struct pagemap *map, const volatile char *page) {
    uint64_t entry;
    (void)*page;
    return look(map, (uintptr_t)page / map->page, 1, &entry) && is_touched(entry);
}

static void forget(struct pagemap *map) {
    if (map->fd >= 0)
        close(map->fd);
    map->fd = -1;
}

static int was_touched(struct pagemap *map, const char *page) {
    uint64_t number = (uintptr_t)page / map->page;
    if (map->fd >= 0 && number - map->first >= PIECE) {
        map->first = number;
        if (!look(map, number, PIECE, map->entries))
            forget(map);
    }
    if (map->fd < 0 || is_touched(map->entries[number - map->first]))
        return 1;
    if (!map->believed && !tells_of_us(map, page))
        forget(map);
    map->believed = 1;
    return map->fd < 0;
}

static int is_zero(const uint64_t *words, uint64_t n) {
    uint64_t any = 0;
    for (uint64_t i = 0; i < n; i++)
        any |= words[i];
    return any == 0;
}

int p3_touched_each(const void *from, uint64_t size, p3_touched_do *each, void *with) {
    struct pagemap map = {.fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
                          .page = (uint64_t)sysconf(_SC_PAGESIZE),
                          .first = UINT64_MAX - PIECE};
    int failed = 0;
    for (uint64_t at = 0; at < size && !failed; at += map.page) {
        const char *page = (const char *)from + at;
        if (was_touched(&map, page) && !is_zero((const void *)page, map.page / sizeof(uint64_t)))
            failed = each(with, at, map.page);
    }
    forget(&map);
    return failed;
}
