// A library whose constructor starts threads that wait for work, as libraries of linear algebra do: they are there
// before the program's own constructors run. They do some work of the library's, and then a function of the
// program's. Slots as in plugin.c.
#include "truth.h"
#include <pthread.h>
#include <stddef.h>

enum { THREADS = 3 };
static pthread_t ids[THREADS];
static void (*task)(int);
static int done;

static void *serve(void *number) {
    void (*now)(int);
    struct slot *slot = &truth()->slots[SLOTS / 2 + (uintptr_t)number];
    slot->process = (uint64_t)getpid();
    work(slot, (unsigned)(uintptr_t)number, 20000);
    while ((now = __atomic_load_n(&task, __ATOMIC_ACQUIRE)) == NULL)
        usleep(100);
    now((int)(uintptr_t)number);
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    // They are not joined: the process ends while they are there.
    for (;;)
        pause();
}

__attribute__((constructor)) static void begin(void) {
    for (int i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, serve, (void *)(uintptr_t)i);
}

void early_run(void (*function)(int));
void early_run(void (*function)(int)) {
    __atomic_store_n(&task, function, __ATOMIC_RELEASE);
}

void early_wait(void);
void early_wait(void) {
    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < THREADS)
        usleep(100);
}
