// Fibers (ucontext). `one`: all of them on one thread; `many`: each is taken up by whichever thread is free.
#define _GNU_SOURCE
#include "truth.h"
#include <pthread.h>
#include <string.h>
#include <ucontext.h>

enum { FIBERS = 8, STACK = 1 << 16, THREADS = 4 };

struct fiber {
    ucontext_t own, *back;
    struct slot *slot;
    long left, rounds;
    int is_over;
};

static struct fiber fibers[FIBERS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int queue[FIBERS], first, waiting, alive = FIBERS;

// Between two paths, and in the middle of a function.
static void body(int number) {
    struct fiber *f = &fibers[number];
    unsigned seed = (unsigned)number;
    for (; f->left > 0; f->left--) {
        seed = work(f->slot, seed, f->rounds);
        swapcontext(&f->own, f->back);
    }
    f->is_over = 1;
    swapcontext(&f->own, f->back);
}

static int take(void) {
    pthread_mutex_lock(&mutex);
    int number = alive == 0 ? -2 : -1;
    if (waiting > 0) {
        number = queue[first];
        first = (first + 1) % FIBERS;
        waiting--;
    }
    pthread_mutex_unlock(&mutex);
    return number;
}

static void put(int number) {
    pthread_mutex_lock(&mutex);
    if (fibers[number].is_over)
        alive--;
    else
        queue[(first + waiting++) % FIBERS] = number;
    pthread_mutex_unlock(&mutex);
}

static void *run(void *unused) {
    ucontext_t here;
    int number;
    while ((number = take()) != -2) {
        if (number < 0) {
            sched_yield();
            continue;
        }
        fibers[number].back = &here;
        swapcontext(&here, &fibers[number].own);
        put(number);
    }
    return unused;
}

int main(int argc, char **argv) {
    long rounds = argc > 2 ? atol(argv[2]) : 10;
    for (int i = 0; i < FIBERS; i++) {
        struct fiber *f = &fibers[i];
        getcontext(&f->own);
        f->own.uc_stack.ss_sp = malloc(STACK);
        f->own.uc_stack.ss_size = STACK;
        f->slot = take_slot();
        f->left = 50;
        f->rounds = rounds;
        makecontext(&f->own, (void (*)(void))body, 1, i);
        put(i);
    }
    pthread_t ids[THREADS];
    int threads = strcmp(argv[1], "many") == 0 ? THREADS : 0;
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, run, NULL);
    run(NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
