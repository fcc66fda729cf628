// The mask of signals with which a thread begins: its creator's, that of its attributes, that of the attributes by
// default. Prints whether SIGUSR1 is blocked in each.
#define _GNU_SOURCE
#include "truth.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static void *print_mask(void *slot) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    printf("%d", sigismember(&mask, SIGUSR1));
    work(slot, 1, 100);
    return NULL;
}

static void start(const pthread_attr_t *attributes, struct slot *slot) {
    pthread_t id;
    pthread_create(&id, attributes, print_mask, slot);
    pthread_join(id, NULL);
}

int main(void) {
    struct slot *slot = take_slot();
    pthread_attr_t attributes, defaults;
    sigset_t blocked, none;
    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    start(NULL, slot);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    start(NULL, slot);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &blocked);
    start(&attributes, slot);
    pthread_getattr_default_np(&defaults);
    pthread_attr_setsigmask_np(&defaults, &blocked);
    pthread_setattr_default_np(&defaults);
    start(NULL, slot);
    pthread_attr_setsigmask_np(&defaults, &none);
    pthread_setattr_default_np(&defaults);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    start(NULL, slot);
    puts("");
    return 0;
}
