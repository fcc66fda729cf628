// SPDX-License-Identifier: MIT OR Apache-2.0
/* What each thread samples with.
 *
 * Calls: p3_chance.c, p3_hot.c, p3_layout.c, p3_live.c, p3_quiet.c.
 * In signal handlers: p3_walker_enter, p3_walker_leave.
 *
 * A walker outlives its thread, and is another's then: nothing of libc runs when threads end, and nothing is allocated
 * but when one samples for the first time. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread int64_t __p3_budget __attribute__((tls_model("initial-exec")));
static struct p3_walker *walkers;
__thread struct p3_walker *p3_walker_own __attribute__((tls_model("initial-exec")));
__thread volatile uintptr_t p3_walker_inside __attribute__((tls_model("initial-exec")));

static long thread(void) { return syscall(SYS_gettid); }

static int is_gone(long id) { return syscall(SYS_tgkill, getpid(), id, 0) != 0 && errno == ESRCH; }

/* One whose thread is gone, of the first few. */
static struct p3_walker *left_behind(long me) {
    enum { MOST = 16 };
    struct p3_walker *w = __atomic_load_n(&walkers, __ATOMIC_ACQUIRE);
    for (int i = 0; w != NULL && i < MOST; i++, w = w->next) {
        long of = __atomic_load_n(&w->thread, __ATOMIC_ACQUIRE);
        if ((of == me || is_gone(of)) && __atomic_compare_exchange_n(&w->thread, &of, me, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return w;
    }
    return NULL;
}

static struct p3_walker *fresh(long me) {
    struct p3_walker *w = p3_map(sizeof *w);
    if (w == NULL) {
        p3_live_lost();
        return NULL;
    }
    w->thread = me;
    w->next = __atomic_load_n(&walkers, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&walkers, &w->next, w, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return w;
}

void p3_walker_lower(struct p3_walker *w, int low) {
    if (w->low != low)
        __p3_budget += low ? -P3_LOW : P3_LOW;
    w->low = low;
}

static void begin(struct p3_walker *w) {
    for (unsigned i = 0; i < P3_RECORDINGS; i++)
        if (w->recordings[i].state != P3_DONE)
            w->recordings[i].state = P3_FREE;
    p3_walker_lower(w, 0);
    w->active = 0;
    w->chance = p3_hot_seed();
    w->sampling = p3_hot_sampling();
    w->generation = p3_hot_generation;
}

static struct p3_walker *make(void) {
    struct p3_quiet before = p3_enter();
    long me = thread();
    struct p3_walker *w = left_behind(me);
    if (w == NULL)
        w = fresh(me);
    if (w != NULL) {
        w->drawn = 0;
        w->low = 0; /* the budget of the thread that is gone went with it */
        begin(w);
    }
    p3_leave(before);
    return w;
}

/* Whether what entered the runtime last was left by a jump, out of a signal handler that came meanwhile: it was deeper
 * in the stack. (A handler on a stack of its own may be anywhere.) */
static int was_left(uintptr_t here) {
    stack_t stack;
    struct p3_quiet before = p3_enter();
    int left = here > p3_walker_inside && sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) == 0;
    p3_leave(before);
    return left;
}

struct p3_walker *p3_walker_enter_at(uintptr_t here) {
    if (p3_hot_sampling() == NULL || (p3_walker_inside != 0 && !was_left(here)))
        return NULL;
    if (p3_walker_inside != 0)
        p3_hot_mend(p3_walker_own);
    p3_walker_inside = here;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (p3_walker_own == NULL)
        p3_walker_own = make();
    if (p3_walker_own == NULL)
        p3_walker_inside = 0;
    else if (p3_walker_own->generation != p3_hot_generation) {
        for (unsigned i = 0; i < P3_RECORDINGS; i++)
            p3_walker_own->recordings[i].state = P3_FREE;
        begin(p3_walker_own);
    }
    return p3_walker_own;
}

uint64_t p3_walker_period(const struct p3_walker *w, unsigned doublings) { return w->sampling->period << doublings; }

int64_t p3_walker_draw(struct p3_walker *w) {
    w->doublings = p3_hot_doublings();
    uint64_t next = p3_chance_skip(&w->chance, p3_walker_period(w, w->doublings));
    return (int64_t)(next > (uint64_t)P3_SKIP ? (uint64_t)P3_SKIP : next);
}

void p3_walker_start(void) {
    if (p3_walker_own == NULL && p3_hot_sampling() != NULL)
        p3_walker_own = make();
    if (p3_walker_own != NULL && !p3_walker_own->drawn) {
        __p3_budget += p3_walker_draw(p3_walker_own);
        p3_walker_own->drawn = 1;
    }
}

void p3_walker_flush(void) {
    for (struct p3_walker *w = __atomic_load_n(&walkers, __ATOMIC_ACQUIRE); w != NULL; w = w->next)
        for (unsigned i = 0; i < P3_RECORDINGS; i++) {
            struct p3_recording *r = &w->recordings[i];
            if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) == P3_DONE && p3_hot_add(&r->encoder, r->length, r->doublings, w))
                r->state = P3_FREE;
        }
}

void p3_walker_forked(void) {
    if (p3_walker_own != NULL)
        p3_walker_own->thread = thread();
}
