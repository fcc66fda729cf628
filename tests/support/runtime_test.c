/* Drives the C runtime by hand, as rewritten modules would. The first argument says what to do. */
#include "p3_abi.h"
#include "p3_profile.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IDS = 5000, ROUNDS = 200000, THREADS = 8 };

static uint64_t counters[4 + 1];
static struct p3_table tables[1];
static struct p3_function functions[] = {
    {7, P3_ARRAY, 4, counters},
    {9, P3_HASH, UINT64_C(1) << 40, tables},
};
static struct p3_module module = {
    .abi = P3_ABI,
    .n_functions = 2,
    .copy = 1,
    .copies = 3,
    .program = {1, 2, 3},
    .functions = functions,
    .counters = counters,
    .n_counters = 4,
};

__attribute__((constructor)) static void construct(void) { __p3_register(&module); }

/* Ids far apart; id i of IDS is counted i % 7 times a round. */
static uint64_t id(uint64_t i) { return i * UINT64_C(219999999) % (UINT64_C(1) << 40); }

static void count_hash(void (*count)(struct p3_table *, uint64_t)) {
    for (uint64_t round = 1; round < 7; round++)
        for (uint64_t i = 0; i < IDS; i++)
            if (i % 7 >= round)
                count(tables, id(i));
    count(tables, UINT64_MAX);
}

static void *hammer(void *unused) {
    for (int i = 0; i < ROUNDS; i++)
        __p3_add_atomic(&counters[i % 4]);
    count_hash(__p3_count_atomic);
    return unused;
}

static void threads(void) {
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, hammer, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    __p3_register(&module); /* once more: nothing happens */
    for (int i = 0; i < 10; i++)
        __p3_add(&counters[i % 3]);
    if (strcmp(what, "hash") == 0)
        count_hash(__p3_count);
    if (strcmp(what, "threads") == 0)
        threads();
    if (strcmp(what, "fork") == 0) {
        count_hash(__p3_count);
        if (fork() == 0) {
            __p3_add(&counters[3]);
            __p3_count(tables, 5);
            exit(0);
        }
        wait(NULL);
    }
    if (strcmp(what, "reset") == 0) {
        count_hash(__p3_count);
        p3_profile_reset();
        __p3_add(&counters[2]);
    }
    if (strcmp(what, "dump") == 0) {
        int result = p3_profile_dump();
        __p3_add(&counters[3]);
        fflush(stdout);
        _exit(result == 0 ? 5 : 6);
    }
    return 3;
}
