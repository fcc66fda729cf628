/* Runs a program so many times, and prints the least and the median wall time of one run in microseconds:
 * start TIMES PROGRAM ARGUMENTS… */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    int times = argc > 2 ? atoi(argv[1]) : 0;
    double *took = malloc(sizeof *took * (size_t)(times > 0 ? times : 1));
    for (int i = 0; i < times; i++) {
        pid_t child;
        int status;
        double begin = now();
        if (posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environ) != 0)
            return 1;
        waitpid(child, &status, 0);
        took[i] = now() - begin;
        if (status != 0)
            return 1;
    }
    if (times <= 0)
        return 2;
    qsort(took, (size_t)times, sizeof *took, compare);
    printf("%.0f %.0f\n", took[0], took[times / 2]);
    return 0;
}
