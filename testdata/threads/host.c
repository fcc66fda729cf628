// Threads that work in the program and in a library: `linked`, or opened and closed by `open` again and again while
// other threads work, some of which are older than the library. Then: threads, rounds, times.
#include "truth.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#ifdef LINKED
extern void plugin_work(int slot, unsigned seed, long rounds);
#endif

enum { MOST = 64 };
static void (*in_library)(int, unsigned, long);
static long rounds, times = 1;
static int threads;
static pthread_barrier_t barrier;
static volatile int is_over;

static void *work_in_both(void *number) {
    int n = (int)(uintptr_t)number;
    struct slot *slot = take_slot();
    for (long i = 0; i < times; i++) {
        pthread_barrier_wait(&barrier); // it is open
        work(slot, (unsigned)n, rounds / 2);
        in_library(n, (unsigned)n, rounds);
        pthread_barrier_wait(&barrier); // nobody is in it
    }
    return NULL;
}

static void *work_beside(void *unused) {
    struct slot *slot = take_slot();
    while (!is_over)
        work(slot, 3, 100);
    return unused;
}

static void *work_in_library(void *number) {
    in_library(MOST + (int)(uintptr_t)number, 5, rounds);
    return NULL;
}

static void run(const char *library) {
    pthread_t ids[MOST], beside, young[2];
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work_in_both, (void *)(uintptr_t)i);
    pthread_create(&beside, NULL, work_beside, NULL);
    for (long i = 0; i < times; i++) {
        void *opened = NULL;
        if (library) {
            opened = dlopen(library, RTLD_NOW);
            if (!opened)
                abort();
            in_library = (void (*)(int, unsigned, long))dlsym(opened, "plugin_work");
        }
        pthread_barrier_wait(&barrier);
        for (int j = 0; j < 2; j++)
            pthread_create(&young[j], NULL, work_in_library, (void *)(uintptr_t)j);
        for (int j = 0; j < 2; j++)
            pthread_join(young[j], NULL);
        pthread_barrier_wait(&barrier);
        if (opened)
            dlclose(opened);
    }
    is_over = 1;
    pthread_join(beside, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

int main(int argc, char **argv) {
    threads = argc > 2 ? atoi(argv[2]) : 2;
    rounds = argc > 3 ? atol(argv[3]) : 100;
    times = argc > 4 ? atol(argv[4]) : 1;
    truth();
#ifdef LINKED
    in_library = plugin_work;
#endif
    run(strcmp(argv[1], "linked") == 0 ? NULL : argv[1]);
    return 0;
}
