/* Threads that share out numbers among themselves and take each apart. Which thread takes which is up to the scheduler; which paths run, and how often, is not. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_uint next;
static unsigned last;

static unsigned steps(unsigned n) {
    unsigned steps = 0;
    while (n != 1) {
        if (n % 2)
            n = 3 * n + 1;
        else
            n /= 2;
        steps++;
    }
    return steps;
}

static void *work(void *sum) {
    for (;;) {
        unsigned n = ++next;
        if (n > last)
            return NULL;
        *(unsigned long *)sum += steps(n);
    }
}

int main(int argc, char **argv) {
    int threads = argc > 2 ? atoi(argv[1]) : 4;
    last = argc > 2 ? (unsigned)atoi(argv[2]) : 100000;
    pthread_t ids[64];
    unsigned long sums[64] = {0}, all = 0;
    for (int t = 0; t < threads && t < 64; t++)
        pthread_create(&ids[t], NULL, work, &sums[t]);
    for (int t = 0; t < threads && t < 64; t++) {
        pthread_join(ids[t], NULL);
        all += sums[t];
    }
    printf("%lu steps\n", all);
    return 0;
}
