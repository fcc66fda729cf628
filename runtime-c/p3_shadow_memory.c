/* A shadow's memory: what it shares with anyone becomes its own.
 *
 * Calls: p3_register.c, p3_shadow_ask.c, p3_shadow_system.c.
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

/* A line of /proc/self/maps. */
struct mapping {
    uint64_t begin, end;
    int shared, writable, readable, device;
};

static const char *read_number(const char *p, uint64_t *out) {
    for (*out = 0;; p++) {
        char c = *p;
        if (c >= '0' && c <= '9')
            *out = *out * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *out = *out * 16 + (uint64_t)(c - 'a' + 10);
        else
            return p;
    }
}

/* Devices may do anything when they are read; /dev/zero and /dev/shm are none. */
static int is_device(const char *line) {
    const char *path = strstr(line, " /dev/");
    return path != NULL && strncmp(path, " /dev/zero", 10) != 0 && strncmp(path, " /dev/shm/", 10) != 0;
}

static struct mapping parse(const char *line) {
    struct mapping m = {0};
    const char *p = read_number(line, &m.begin);
    if (*p == '-')
        p = read_number(p + 1, &m.end);
    if (*p == ' ') {
        m.readable = p[1] == 'r';
        m.writable = p[2] == 'w';
        m.shared = p[4] == 's';
    }
    m.device = is_device(line);
    return m;
}

static uint64_t copied;

/* The same bytes at the same place, in private memory. */
static uint32_t make_private(const struct mapping *m) {
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

static int is_ours(const struct mapping *m, const struct p3_shadow_task *task) {
    uint64_t header = (uint64_t)(uintptr_t)task->header, counts = (uint64_t)(uintptr_t)task->counts;
    return (m->begin <= header && header < m->end) || (m->begin <= counts && counts < m->end);
}

static uint32_t settle(const char *line, const struct p3_shadow_task *task) {
    struct mapping m = parse(line);
    if (!m.shared || is_ours(&m, task))
        return 0;
    if (m.writable)
        return make_private(&m);
    if (n_rest == REST)
        return P3_END_SHARED;
    rest[n_rest++] = (struct range){m.begin, m.end};
    return 0;
}

/* Lines come from a file that the system makes anew at each read, and may be cut anywhere: read whole first. */
static uint32_t settle_all(const struct p3_shadow_task *task) {
    enum { ROOM = 1 << 20 };
    int all = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;
    long base = P3_CALL(SYS_mmap, 0, ROOM, all, own, -1, 0);
    if (failed(base))
        return P3_END_MEMORY;
    char *text = (char *)base;
    long size = p3_shadow_read("/proc/self/maps", text, ROOM);
    uint32_t why = size < 0 || size == ROOM - 1 ? P3_END_MEMORY : 0;
    for (char *line = text, *end; !why && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        why = settle(line, task);
    }
    P3_CALL(SYS_munmap, base, ROOM, 0, 0, 0, 0);
    return why;
}

uint32_t p3_shadow_own_memory(const struct p3_shadow_task *task) {
    n_rest = 0;
    copied = 0;
    p3_counts_alone();
    return settle_all(task);
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
