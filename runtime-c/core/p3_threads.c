// SPDX-License-Identifier: MIT OR Apache-2.0
/* Whether the process ever had a second thread that counts where another one does: plain increments of two threads at
 * once lose counts.
 *
 * Calls: nothing.
 * In signal handlers: p3_threads_flags, p3_threads_seen; the rest in constructors, a forked child, at exit, and where a
 * thread is started.
 *
 * A process that is killed says nothing at its end, so the flag is set in the profile before a thread begins
 * (p3_create.c). Of threads whose beginning is not seen, and of those that the C library starts itself (SIGEV_THREAD),
 * what it knows at the end has to do. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <stddef.h>

/* glibc's; it never was true again once there was a thread. */
extern char __libc_single_threaded __attribute__((weak));

/* Of the profile's header; NULL: there is no profile. */
static uint32_t *flags;
/* Which of them this process set, and may take back. */
static uint32_t own;
/* There was a second thread. */
static int seen;
static enum p3_watched watched;
/* The C library would know of a second thread: before, it knew of none. */
static int libc_knows;

int p3_threads_is_single(void) { return &__libc_single_threaded != NULL && __libc_single_threaded; }

void p3_threads_seen(void) {
    if (__atomic_exchange_n(&seen, 1, __ATOMIC_SEQ_CST) != 0)
        return;
    uint32_t *to = __atomic_load_n(&flags, __ATOMIC_SEQ_CST);
    if (to != NULL)
        __atomic_fetch_or(to, P3_RAW_THREADS, __ATOMIC_RELAXED);
}

void p3_threads_start(enum p3_watched whose, int others_are_known) {
    watched = whose;
    libc_knows = p3_threads_is_single();
    /* A library that a program with threads loads. */
    if (&__libc_single_threaded != NULL && !libc_knows && !others_are_known)
        p3_threads_seen();
}

uint32_t p3_threads_flags(int all_counted) {
    if (__atomic_load_n(&seen, __ATOMIC_SEQ_CST))
        return P3_RAW_THREADS;
    if (watched == P3_ALL_WATCHED || (all_counted && libc_knows && p3_threads_is_single()))
        return 0;
    return P3_RAW_INSIDE | (watched == P3_UNWATCHED ? P3_RAW_UNSEEN : 0);
}

void p3_threads_watch(uint32_t *of_header) {
    __atomic_store_n(&flags, of_header, __ATOMIC_SEQ_CST);
    if (of_header == NULL)
        return;
    uint32_t more = p3_threads_flags(0);
    own = more & ~__atomic_fetch_or(of_header, more, __ATOMIC_SEQ_CST);
}

void p3_threads_end(int is_alone, int others_are_known, enum p3_watched now) {
    if (now > watched)
        watched = now;
    if (!others_are_known && (libc_knows ? !p3_threads_is_single() : !is_alone))
        p3_threads_seen();
    uint32_t *of = __atomic_load_n(&flags, __ATOMIC_SEQ_CST);
    if (of != NULL)
        __atomic_fetch_and(of, ~(own & ~p3_threads_flags(1)), __ATOMIC_RELAXED);
}

/* The child's only thread is its first. What the C library knows may still be of its parent's. */
void p3_threads_forked(void) {
    __atomic_store_n(&flags, NULL, __ATOMIC_SEQ_CST);
    own = 0;
    __atomic_store_n(&seen, 0, __ATOMIC_SEQ_CST);
    libc_knows = p3_threads_is_single();
}
