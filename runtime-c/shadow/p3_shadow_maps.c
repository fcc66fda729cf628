// SPDX-License-Identifier: MIT OR Apache-2.0
/* What memory a process has, as the system tells it.
 *
 * Calls: p3_shadow_ask.c, p3_shadow_system.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = P3_SHADOW_PAGE };

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

/* A line of /proc/self/maps. */
static struct p3_shadow_mapping parse(const char *line) {
    struct p3_shadow_mapping m = {0};
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

/* Lines come from a file that the system makes anew at each read, and may be cut anywhere: read whole first. */
uint32_t p3_shadow_mappings(uint32_t (*see)(void *seen, const struct p3_shadow_mapping *m), void *seen) {
    enum { ROOM = 1 << 20 };
    int all = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;
    long base = P3_CALL(SYS_mmap, 0, ROOM, all, own, -1, 0);
    if (base < 0 && base > -PAGE)
        return P3_END_MEMORY;
    char *text = (char *)base;
    long size = p3_shadow_read("/proc/self/maps", text, ROOM);
    uint32_t why = size < 0 || size == ROOM - 1 ? P3_END_MEMORY : 0;
    for (char *line = text, *end; !why && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        struct p3_shadow_mapping m = parse(line);
        why = see(seen, &m);
    }
    P3_CALL(SYS_munmap, base, ROOM, 0, 0, 0, 0);
    return why;
}

#else
typedef int p3_no_shadows;
#endif
