// Threads with and without names, each with a number of calls of its own: what `show --by thread` tells.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t all_are_there;

static __attribute__((noinline)) void task(long n) {
    if (n & 1)
        __asm__ volatile("# odd");
    else
        __asm__ volatile("# even");
}

static __attribute__((noinline)) void tasks(long n) {
    for (long i = 0; i < n; i++)
        task(i);
}

static void *work(void *n) {
    pthread_barrier_wait(&all_are_there);
    tasks((long)n);
    pthread_barrier_wait(&all_are_there);
    return NULL;
}

static void *write_log(void *n) {
    prctl(PR_SET_NAME, "logger");
    return work(n);
}

static void *run_and_fork(void *n) {
    pthread_setname_np(pthread_self(), "forker");
    tasks((long)n);
    pid_t child = fork();
    if (child == 0) {
        tasks(11);
        exit(0);
    }
    waitpid(child, NULL, 0);
    return NULL;
}

static void *run_plainly(void *n) {
    tasks((long)n);
    return NULL;
}

static void start(pthread_t *thread, void *(*function)(void *), long n) {
    if (pthread_create(thread, NULL, function, (void *)n) != 0)
        abort();
}

int main(void) {
    pthread_t threads[4], one;
    long n[] = {100, 2000, 30000};
    pthread_barrier_init(&all_are_there, NULL, 5);
    for (int i = 0; i < 3; i++) {
        start(&threads[i], work, n[i]);
        pthread_setname_np(threads[i], "worker");
    }
    start(&threads[3], write_log, 400);
    pthread_barrier_wait(&all_are_there);
    pthread_barrier_wait(&all_are_there);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 5; i++) {
        start(&one, run_plainly, 7);
        pthread_join(one, NULL);
    }
    start(&one, run_and_fork, 60);
    pthread_join(one, NULL);
    tasks(3);
    return 0;
}
