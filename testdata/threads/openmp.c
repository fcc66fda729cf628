// OpenMP: regions, loops by every schedule, tasks.
#include "truth.h"
#include <omp.h>

enum { THREADS = 4 };

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 100;
    struct slot *slots[THREADS];
    for (int i = 0; i < THREADS; i++)
        slots[i] = take_slot();
    omp_set_dynamic(0);
    omp_set_num_threads(THREADS);
    for (int time = 0; time < 5; time++) {
#pragma omp parallel
        work(slots[omp_get_thread_num()], (unsigned)time, rounds);
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 64; i++)
            work(slots[omp_get_thread_num()], (unsigned)i, rounds);
#pragma omp parallel for schedule(dynamic, 1)
        for (int i = 0; i < 64; i++)
            work(slots[omp_get_thread_num()], (unsigned)i, i % 7 * rounds);
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 64; i++) {
#pragma omp task
            work(slots[omp_get_thread_num()], (unsigned)i, rounds);
        }
    }
    return 0;
}
