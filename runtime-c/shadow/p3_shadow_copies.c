// SPDX-License-Identifier: MIT OR Apache-2.0
/* Pages that a shadow has copied by writing to them. Its twin writes to the same: it copies them before its clock
 * starts.
 *
 * Calls: p3_shadow_maps.c, p3_shadow_system.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* MOST: pages that are looked at, of four gigabytes. */
enum { PAGE = P3_SHADOW_PAGE, AT_ONCE = 512, MOST = 1 << 20 };

/* What /proc/self/pagemap says of a page: no other process has it; it is a file's; it is there. */
static const uint64_t alone = UINT64_C(1) << 56, of_file = UINT64_C(1) << 61, present = UINT64_C(1) << 63;

/* Pages that are looked through for some that are of use. */
struct look {
    long pagemap;
    uint64_t has, has_not; /* flags of those */
    uint64_t left; /* how many may be looked at */
    int (*use)(void *with, uint64_t begin, uint64_t end); /* 0: it is enough */
    void *with;
};

/* Not on the stack, which may be a small one for signals. */
static uint64_t flags[AT_ONCE];

static int look_at(struct look *look, uint64_t begin, uint64_t end) {
    while (begin < end) {
        uint64_t n = (end - begin) / PAGE < AT_ONCE ? (end - begin) / PAGE : AT_ONCE;
        if (n > look->left)
            return 0;
        look->left -= n;
        if (P3_CALL(SYS_pread64, look->pagemap, flags, n * sizeof *flags, begin / PAGE * sizeof *flags, 0, 0) != (long)(n * sizeof *flags))
            return 0;
        for (uint64_t i = 0, first; i < n; i++) {
            for (first = i; i < n && (flags[i] & (look->has | look->has_not)) == look->has; i++)
                ;
            if (i > first && !look->use(look->with, begin + first * PAGE, begin + i * PAGE))
                return 0;
        }
        begin += n * PAGE;
    }
    return 1;
}

static long open_pagemap(void) { return P3_CALL(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0, 0, 0); }

static int add(void *to, uint64_t begin, uint64_t end) {
    struct p3_shadow_copies *copies = to;
    if (copies->n > 0 && copies->of[copies->n - 1].end == begin) {
        copies->of[copies->n - 1].end = end;
        return 1;
    }
    if (copies->n == P3_SHADOW_COPIES)
        return 0;
    copies->of[copies->n].begin = begin;
    copies->of[copies->n++].end = end;
    return 1;
}

static uint32_t look_through(void *look, const struct p3_shadow_mapping *m) {
    return m->writable && !m->shared && !look_at(look, m->begin, m->end);
}

void p3_shadow_copies_find(struct p3_shadow_copies *copies) {
    copies->n = copies->all = 0;
    struct look look = {.pagemap = open_pagemap(), .has = present | alone, .has_not = of_file, .left = MOST, .use = add, .with = copies};
    if (look.pagemap < 0)
        return;
    copies->all = p3_shadow_mappings(look_through, &look) == 0;
    P3_CALL(SYS_close, look.pagemap, 0, 0, 0, 0, 0);
}

static int copy(void *none, uint64_t begin, uint64_t end) {
    (void)none;
    enum { POPULATE_WRITE = 23 }; /* since Linux 5.14 */
    return P3_CALL(SYS_madvise, begin, end - begin, POPULATE_WRITE, 0, 0, 0) == 0;
}

int p3_shadow_copies_make(const struct p3_shadow_copies *copies) {
    struct look look = {.pagemap = open_pagemap(), .has = present, .has_not = of_file, .left = MOST, .use = copy};
    if (look.pagemap < 0)
        return 0;
    int made = 1;
    for (uint64_t i = 0; made && i < copies->n; i++)
        made = look_at(&look, copies->of[i].begin, copies->of[i].end);
    P3_CALL(SYS_close, look.pagemap, 0, 0, 0, 0, 0);
    return made && copies->all;
}

#else
typedef int p3_no_shadows;
#endif
