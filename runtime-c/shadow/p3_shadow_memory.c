// SPDX-License-Identifier: MIT OR Apache-2.0
/* A shadow's memory: what it shares with anyone becomes its own.
 *
 * Calls: p3_register.c, p3_shadow_maps.c, p3_shadow_system.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = P3_SHADOW_PAGE, REST = 64 };

/* As much of it is copied: a fork should not take longer than a burst. */
static const uint64_t MOST = UINT64_C(256) << 20;

/* What can only be read, and is shared still. */
static struct range {
    uint64_t begin, end;
} rest[REST];
static unsigned n_rest;

static int failed(long result) { return result < 0 && result > -PAGE; }

static const struct p3_shadow_task *task;
static uint64_t copied;

/* The same bytes at the same place, in private memory. */
static uint32_t make_private(const struct p3_shadow_mapping *m) {
    uint64_t size = m->end - m->begin;
    int all = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    copied += size;
    if (m->device || copied > MOST)
        return P3_END_SHARED;
    long copy = P3_CALL(SYS_mmap, 0, size, all, own, -1, 0);
    if (failed(copy))
        return P3_END_MEMORY;
    if (m->readable)
        memcpy((void *)copy, (const void *)m->begin, size);
    long moved = P3_CALL(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, m->begin, 0);
    return failed(moved) ? P3_END_MEMORY : 0;
}

static int is_ours(const struct p3_shadow_mapping *m) {
    uint64_t header = (uint64_t)(uintptr_t)task->header, counts = (uint64_t)(uintptr_t)task->counts;
    return (m->begin <= header && header < m->end) || (m->begin <= counts && counts < m->end);
}

static uint32_t settle(void *none, const struct p3_shadow_mapping *m) {
    (void)none;
    if (!m->shared || is_ours(m))
        return 0;
    if (m->writable)
        return make_private(m);
    if (n_rest == REST)
        return P3_END_SHARED;
    rest[n_rest++] = (struct range){m->begin, m->end};
    return 0;
}

uint32_t p3_shadow_own_memory(const struct p3_shadow_task *of) {
    task = of;
    n_rest = 0;
    copied = 0;
    p3_counts_alone();
    return p3_shadow_mappings(settle, NULL);
}

int p3_shadow_is_shared(uint64_t address, uint64_t size) {
    for (unsigned i = 0; i < n_rest; i++)
        if (address < rest[i].end && rest[i].begin < address + size)
            return 1;
    return 0;
}

#else
typedef int p3_no_shadows;
#endif
