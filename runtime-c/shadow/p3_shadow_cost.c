// SPDX-License-Identifier: MIT OR Apache-2.0
/* What shadows cost the program: the forker keeps that to a share of its processor time.
 *
 * A shadow costs the timer's signal with the fork, and a fault for each page that the program writes to for the first
 * time after it. Faults are most of it, and come later; so what a shadow has cost is looked at when the next one is
 * due.
 *
 * Calls: p3_shadow_ask.c, p3_shadow_spare.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <string.h>

enum { SAMPLES = 4 };

/* Nanoseconds of a fork, and of a page that is copied, before they are known: those of a virtual machine. It is all
 * that programs know that end soon. */
static const double a_fork = 5e5, a_page = 3e3;

static _Alignas(P3_SHADOW_PAGE) volatile char pages[SAMPLES * P3_SHADOW_PAGE];

/* `forks`: how many so far. `fault`: nanoseconds of one, on average. `mean`: nanoseconds of a shadow, the last one not
 * included, as was guessed before the first one. `before`: of all but the last one. The rest is of the last one:
 * nanoseconds that it has cost, as far as was looked, and of signals; and the faults and pages that there were when it
 * was forked. */
static struct {
    uint64_t forks, before;
    double fault, mean;
    uint64_t last, signals, faults;
    struct p3_shadow_pages pages;
} known;

/* Faults of the program that the last shadow is the reason of: at most one for each page of its own that was there, and
 * none for those that came. What is given back and taken anew counts as well; so it may be fewer. */
static uint64_t caused(void) {
    uint64_t n = p3_shadow_faults() - known.faults, now = p3_shadow_pages().all;
    uint64_t came = now > known.pages.all ? now - known.pages.all : 0;
    n = n > came ? n - came : 0;
    return n < known.pages.own || known.pages.all == 0 ? n : known.pages.own;
}

/* As if all pages were copied; where they are not known, a thousand. */
static double guess(void) {
    struct p3_shadow_pages there = p3_shadow_pages();
    return a_fork + a_page * (there.all == 0 ? 1000 : (double)there.own);
}

void p3_shadow_cost_start(void) {
    p3_shadow_write_to(pages, SAMPLES);
    memset(&known, 0, sizeof known);
    known.mean = guess();
}

uint64_t p3_shadow_cost_look(void) {
    if (known.forks > 0)
        known.last = known.signals + (uint64_t)((double)caused() * known.fault);
    else
        known.mean = guess();
    return known.before + known.last;
}

/* With the last one. A guess counts for as much as one that was looked at. */
static double mean(void) {
    double last = (double)known.last;
    return known.forks == 0 ? known.mean : known.forks == 1 ? (known.mean + last) / 2 : (3 * known.mean + last) / 4;
}

/* What the last one has cost so far is not all that it will. */
double p3_shadow_cost(void) {
    double with_last = mean();
    return with_last > known.mean ? with_last : known.mean;
}

void p3_shadow_cost_signal(uint64_t began) { known.signals += p3_shadow_clock(CLOCK_THREAD_CPUTIME_ID) - began; }

void p3_shadow_cost_fork(void) {
    known.mean = mean();
    known.before += known.last;
    known.last = known.signals = 0;
    known.forks++;
    double fault = (double)p3_shadow_write_to(pages, SAMPLES);
    /* Something else may have come in between. */
    if (known.forks > 1 && fault > 2 * known.fault)
        fault = 2 * known.fault;
    known.fault = known.forks == 1 ? fault : (7 * known.fault + fault) / 8;
    known.faults = p3_shadow_faults();
    known.pages = p3_shadow_pages();
}

#else
typedef int p3_no_shadows;
#endif
