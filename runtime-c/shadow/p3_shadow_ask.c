// SPDX-License-Identifier: MIT OR Apache-2.0
/* What is asked of the system: clocks, page faults, small files.
 *
 * Calls: p3_shadow_system.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

uint64_t p3_shadow_clock(clockid_t clock) {
    struct timespec now = {0, 0};
    P3_CALL(SYS_clock_gettime, clock, &now, 0, 0, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t p3_shadow_faults(void) {
    struct rusage usage = {.ru_minflt = 0};
    P3_CALL(SYS_getrusage, RUSAGE_SELF, &usage, 0, 0, 0, 0);
    return (uint64_t)usage.ru_minflt;
}

uint64_t p3_shadow_write_to(volatile char *pages, unsigned n) {
    uint64_t first = p3_shadow_clock(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned i = 0; i < n; i++)
        pages[(uint64_t)i * P3_SHADOW_PAGE]++;
    return (p3_shadow_clock(CLOCK_THREAD_CPUTIME_ID) - first) / n;
}

long p3_shadow_read(const char *path, char *text, long room) {
    long fd = P3_CALL(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    long size = 0, n;
    if (fd < 0)
        return -1;
    while ((n = P3_CALL(SYS_read, fd, text + size, room - 1 - size, 0, 0, 0)) > 0)
        size += n;
    P3_CALL(SYS_close, fd, 0, 0, 0, 0, 0);
    text[size] = 0;
    return n < 0 ? -1 : size;
}

#else
typedef int p3_no_shadows;
#endif
