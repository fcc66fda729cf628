/* What shadows cost the program: the forker keeps that to a share of its processor time.
 *
 * A shadow costs the timer's signal with the fork, and a fault for each page that the program writes to for the first time after it. Faults are most
 * of it, and come later; so what a shadow has cost is looked at when the next one is due.
 *
 * Calls: p3_shadow_spare.c, p3_shadow_system.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

enum { PAGE = 4096, SAMPLES = 4 };

/* Nanoseconds of a shadow, before one is known: a fork, and a thousand pages. It is all that programs know that end soon. */
static const double guess = 4e6;

static _Alignas(PAGE) volatile char pages[SAMPLES][PAGE];

/* `forks`: how many so far. `fault`: nanoseconds of one, on average. `mean`: nanoseconds of a shadow, the last one not included. `before`: of
 * all but the last one. The rest is of the last one: nanoseconds of signals, and the numbers of faults and resident pages when it was forked. */
static struct {
    uint64_t forks, before;
    double fault, mean;
    uint64_t signals, faults, resident;
} known;

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec now = {0, 0};
    P3_CALL(SYS_clock_gettime, clock, &now, 0, 0, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t faults(void) {
    struct rusage usage = {.ru_minflt = 0};
    P3_CALL(SYS_getrusage, RUSAGE_SELF, &usage, 0, 0, 0, 0);
    return (uint64_t)usage.ru_minflt;
}

/* Faults of the program that the last shadow is the reason of: at most one for each page that was there, and none for those that came. What is
 * given back and taken anew counts as well; so it may be fewer. */
static uint64_t caused(void) {
    uint64_t n = faults() - known.faults, now = p3_shadow_resident();
    uint64_t came = now > known.resident ? now - known.resident : 0;
    n = n > came ? n - came : 0;
    return n < known.resident || known.resident == 0 ? n : known.resident;
}

static uint64_t of_last(void) { return known.forks == 0 ? 0 : known.signals + (uint64_t)((double)caused() * known.fault); }

static double mean(uint64_t last) {
    return known.forks == 0 ? guess : known.forks == 1 ? (double)last : (3 * known.mean + (double)last) / 4;
}

void p3_shadow_cost_start(void) {
    for (int i = 0; i < SAMPLES; i++)
        pages[i][0]++;
    known.forks = known.before = 0;
    known.fault = known.mean = 0;
    known.signals = 0;
}

double p3_shadow_cost(void) { return mean(of_last()); }

uint64_t p3_shadow_cost_all(void) { return known.before + of_last(); }

uint64_t p3_shadow_cost_clock(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

void p3_shadow_cost_signal(uint64_t began) { known.signals += p3_shadow_cost_clock() - began; }

void p3_shadow_cost_fork(void) {
    uint64_t last = of_last();
    known.mean = mean(last);
    known.before += last;
    known.signals = 0;
    known.forks++;
    uint64_t first = p3_shadow_cost_clock();
    for (int i = 0; i < SAMPLES; i++)
        pages[i][0]++;
    double fault = (double)((p3_shadow_cost_clock() - first) / SAMPLES);
    /* Something else may have come in between. */
    if (known.forks > 1 && fault > 2 * known.fault)
        fault = 2 * known.fault;
    known.fault = known.forks == 1 ? fault : (7 * known.fault + fault) / 8;
    known.faults = faults();
    known.resident = p3_shadow_resident();
}

#else
typedef int p3_no_shadows;
#endif
