/* A process, its shadow and the shadow's twin, as far as pages go. Prints which pages of `memory` the shadow says that
 * it copied, whether the twin copied as many, how many faults the twin has when it writes to them then, and whether it
 * has one elsewhere. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 3000, POPULATE_WRITE = 23 };
static const unsigned written[] = {0, 1, 511, 512, 1700, 2999};
enum { WRITTEN = sizeof written / sizeof *written };

static volatile char *map(uint64_t size, int flags) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

static void await(pid_t child) {
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

static uint64_t faults_of(volatile char *memory, const unsigned *pages, unsigned n) {
    uint64_t before = p3_shadow_faults();
    for (unsigned i = 0; i < n; i++)
        memory[(uint64_t)pages[i] * P3_SHADOW_PAGE]++;
    return p3_shadow_faults() - before;
}

static void twin(volatile char *memory, const struct p3_shadow_copies *copies) {
    /* Pages of the program's file are brought in here and not while faults are counted: a fork does not hand them
     * on. */
    unsigned pages[WRITTEN], other = 100, first = 0;
    memcpy(pages, written, sizeof pages);
    faults_of(map(P3_SHADOW_PAGE, MAP_PRIVATE), &first, 1);
    int possible = madvise((void *)memory, P3_SHADOW_PAGE, POPULATE_WRITE) == 0;
    int made = p3_shadow_copies_make(copies);
    uint64_t again = faults_of(memory, pages, WRITTEN);
    printf("%d %d %llu %d\n", possible, made, (unsigned long long)again, faults_of(memory, &other, 1) > 0);
    exit(0);
}

static void shadow(volatile char *memory, volatile char *not_there) {
    struct p3_shadow_copies *copies = (void *)map(sizeof *copies, MAP_SHARED | MAP_NORESERVE);
    int turn[2];
    char now = 1;
    if (pipe(turn) != 0)
        abort();
    pid_t child = fork();
    if (child == 0 && read(turn[0], &now, 1) == 1)
        twin(memory, copies);
    for (unsigned i = 0; i < WRITTEN; i++)
        memory[(uint64_t)written[i] * P3_SHADOW_PAGE]++;
    volatile char *own = map(P3_SHADOW_PAGE, MAP_PRIVATE);
    *own = 1;
    *not_there = 1;
    p3_shadow_copies_find(copies);
    for (uint64_t i = 0; i < copies->n; i++)
        for (uint64_t at = copies->of[i].begin; at < copies->of[i].end; at += P3_SHADOW_PAGE)
            if (at - (uint64_t)(uintptr_t)memory < (uint64_t)PAGES * P3_SHADOW_PAGE)
                printf("%llu\n", (unsigned long long)((at - (uint64_t)(uintptr_t)memory) / P3_SHADOW_PAGE));
    fflush(stdout);
    if (write(turn[1], &now, 1) != 1)
        abort();
    await(child);
    exit(0);
}

int main(void) {
    volatile char *memory = map((uint64_t)PAGES * P3_SHADOW_PAGE, MAP_PRIVATE);
    volatile char *not_there = map(P3_SHADOW_PAGE, MAP_PRIVATE);
    memset((void *)memory, 1, (uint64_t)PAGES * P3_SHADOW_PAGE);
    pid_t child = fork();
    if (child == 0)
        shadow(memory, not_there);
    /* The program goes on: what it copies itself is the shadow's and the twin's alone. */
    memory[300 * P3_SHADOW_PAGE]++;
    memory[511 * P3_SHADOW_PAGE]++;
    await(child);
    return 0;
}
