/* Drives sampling by hand, as rewritten modules would: streams of blocks, each a segment of its own.
 * Arguments: what, how many blocks, bytes of memory, length of subpaths, "counting" where the list is to be such a
 * sample. */
#include "p3_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 4, HOT = 10 };

static struct p3_raw_block block = {
    .magic = P3_BLOCK_MAGIC, .size = 4096, .kind = P3_BLOCK_MODULE, .counters_offset = 4096};
static struct p3_sampling sampling = {.period = 2, .n_lengths = 1, .chances = {UINT64_C(1) << 32}};
static struct p3_module module = {
    .abi = P3_ABI, .copies = 1, .program = {1, 2, 3}, .block = &block, .page = 4096, .sampling = &sampling};

static int sampled;

/* An activation of one block, in a segment of its own; `*mode` is the version of the function that runs. */
static void run(int64_t *frame, int *mode, uint32_t id) {
    __p3_budget -= 1;
    if (*mode || __p3_budget < 0)
        *mode = (int)__p3_subpath_boundary(frame, 1, !*mode);
    if (*mode)
        __p3_subpath_block(frame, id);
}

/* Blocks with numbers by turns among `many` from `first` on. */
static void stream(uint64_t n, uint32_t first, uint32_t many) {
    int64_t frame[P3_FRAME_WORDS] = {-1};
    int mode = 0;
    for (uint64_t i = 0; i < n; i++)
        run(frame, &mode, first + (uint32_t)(i % many));
}

/* By turns a block that never comes again and one of a few, of which each is half as frequent as the one before it. */
static void skewed(uint64_t n) {
    int64_t frame[P3_FRAME_WORDS] = {-1};
    int mode = 0;
    for (uint64_t i = 0; i < n; i++)
        run(frame, &mode, i % 2 == 0 ? (uint32_t)(1000 + i / 2) : (uint32_t)__builtin_ctzll(i / 2 + 1));
}

static uint64_t blocks;

static void *thread(void *of) {
    stream(blocks, (uint32_t)(uintptr_t)of, 1);
    return NULL;
}

static void threads(void) {
    pthread_t all[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&all[i], NULL, thread, (void *)(uintptr_t)(100 + i));
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
}

static void handle(int signal) {
    (void)signal;
    sampled++;
    stream(100, 1000, 1);
}

static void with_signals(void) {
    struct itimerval every = {{0, 200}, {0, 200}};
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &every, NULL);
    stream(blocks, 1, 1);
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_REAL, &every, NULL);
    printf("%d\n", sampled * 100);
}

int main(int argc, char **argv) {
    if (argc < 5)
        return 2;
    blocks = strtoull(argv[2], NULL, 10);
    sampling.memory = strtoull(argv[3], NULL, 10);
    sampling.lengths[0] = strtoull(argv[4], NULL, 10);
    if (argc > 5 && strcmp(argv[5], "counting") == 0)
        sampling.flags |= P3_COUNTING;
    if (strcmp(argv[1], "threads") == 0)
        sampling.period = 50; /* else they wait for each other, and drop what they cannot add */
    block.crc = p3_block_crc(&block);
    __p3_register(&module);
    if (strcmp(argv[1], "distinct") == 0)
        stream(blocks, 0, UINT32_MAX);
    else if (strcmp(argv[1], "one") == 0)
        stream(blocks, 7, 1);
    else if (strcmp(argv[1], "skewed") == 0)
        skewed(blocks);
    else if (strcmp(argv[1], "phases") == 0) {
        stream(blocks / 2, 0, HOT);
        stream(blocks / 4, 1000, 100000);
        stream(blocks / 4, 500, HOT);
    } else if (strcmp(argv[1], "threads") == 0)
        threads();
    else if (strcmp(argv[1], "signals") == 0)
        with_signals();
    else if (strcmp(argv[1], "for-ever") == 0)
        for (;;)
            stream(blocks, 0, UINT32_MAX);
    else
        return 2;
    return 0;
}
