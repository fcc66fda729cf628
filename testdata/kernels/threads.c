/* Threads that take tasks from one queue under a lock, and add up what they find. threads TASKS SIZE */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, BUCKETS = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left, size;
static long buckets[BUCKETS];

static int take(void) {
    pthread_mutex_lock(&lock);
    int task = left > 0 ? left-- : 0;
    pthread_mutex_unlock(&lock);
    return task;
}

static void put(long value) {
    pthread_mutex_lock(&lock);
    buckets[(unsigned long)value % BUCKETS] += value;
    pthread_mutex_unlock(&lock);
}

/* Steps until a number of the sequence n / 2, 3 n + 1 is below where it began. */
__attribute__((noinline)) static long steps(unsigned long n) {
    long count = 0;
    for (unsigned long at = n; at >= n && at > 1; count++)
        at = at % 2 == 0 ? at / 2 : 3 * at + 1;
    return count;
}

static void *work(void *none) {
    for (int task; (task = take()) > 0;) {
        long sum = 0;
        for (int i = 0; i < size; i++)
            sum += steps((unsigned long)task * 37 + (unsigned long)i * 2 + 1);
        put(sum);
    }
    return none;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    left = argc > 1 ? atoi(argv[1]) : 1000;
    size = argc > 2 ? atoi(argv[2]) : 100;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    long sum = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < BUCKETS; i++)
        sum += buckets[i];
    printf("%ld\n", sum);
    return 0;
}
