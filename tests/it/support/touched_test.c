/* Shows what p3_touched_each finds in memory of which some pages were written. The argument says what
 * /proc/self/pagemap is: "real", "missing", "short", that of "another" process, one that knows the pages in "swap", or the
 * real one, read where there is "no-memory" for all of it. Prints a line for each page that was shown, then how many were
 * brought in meanwhile. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int open_pagemap(const char *path, int flags);
static ssize_t read_pagemap(int fd, void *out, size_t size, off_t offset);
#define open open_pagemap
#define pread read_pagemap
#include "p3_touched.c"
#undef open
#undef pread

enum { PAGES = 3000, MOST_PAGE = 1 << 16 };
static const unsigned written[] = {0, 1, 511, 512, 1700, 2999};
enum { WRITTEN = sizeof written / sizeof *written };

static char memory[(uint64_t)PAGES * MOST_PAGE] __attribute__((aligned(MOST_PAGE)));
static const char *map_is;

static int open_pagemap(const char *path, int flags) {
    if (strcmp(path, "/proc/self/pagemap") != 0)
        abort();
    if (strcmp(map_is, "real") == 0 || strcmp(map_is, "no-memory") == 0)
        return open(path, flags);
    if (strcmp(map_is, "missing") == 0)
        return -1;
    char name[] = "pagemap-XXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    uint64_t first = (uintptr_t)memory / (uint64_t)sysconf(_SC_PAGESIZE);
    if (strcmp(map_is, "short") != 0 && ftruncate(fd, (off_t)((first + 2 * PAGES) * 8)) != 0)
        abort();
    uint64_t swapped = UINT64_C(1) << 62;
    for (unsigned i = 0; i < WRITTEN && strcmp(map_is, "swap") == 0; i++)
        if (pwrite(fd, &swapped, 8, (off_t)((first + written[i]) * 8)) != 8)
            abort();
    return fd;
}

/* Who asks for one page has written it. */
static ssize_t read_pagemap(int fd, void *out, size_t size, off_t offset) {
    if (size != sizeof(uint64_t) || strcmp(map_is, "swap") != 0)
        return pread(fd, out, size, offset);
    *(uint64_t *)out = UINT64_C(1) << 63;
    return sizeof(uint64_t);
}

void *p3_map(uint64_t size) {
    if (strcmp(map_is, "no-memory") == 0)
        return NULL;
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

static int show(void *with, uint64_t at, uint64_t size) {
    (void)with;
    printf("%llu\n", (unsigned long long)(at / size));
    return at / size == 2999 ? 7 : 0;
}

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int main(int n, char **arguments) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (n != 2 || page > MOST_PAGE)
        return 1;
    map_is = arguments[1];
    for (unsigned i = 0; i < WRITTEN; i++)
        memory[written[i] * page + i * 100 + 99] = 1;
    memory[600 * page] = 0; /* touched, and zero */
    long before = faults();
    int result = p3_touched_each(memory, PAGES * page, show, NULL);
    printf("%ld\n", faults() - before);
    return result != 7;
}
