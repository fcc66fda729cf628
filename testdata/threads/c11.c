// Threads of C11.
#include "truth.h"
#include <threads.h>

static long rounds;

static int run(void *seed) {
    work(take_slot(), (unsigned)(uintptr_t)seed, rounds);
    return 0;
}

int main(int argc, char **argv) {
    thrd_t ids[8];
    rounds = argc > 1 ? atol(argv[1]) : 1000;
    for (int i = 0; i < 8; i++)
        thrd_create(&ids[i], run, (void *)(uintptr_t)i);
    for (int i = 0; i < 8; i++)
        thrd_join(ids[i], NULL);
    return 0;
}
