// SPDX-License-Identifier: MIT OR Apache-2.0
/* A twin of a shadow: how long a burst takes the program itself. It runs what the program does, from the same state, to
 * a place that came by in the burst so and so many times.
 *
 * Calls: p3_shadow_ask.c, p3_shadow_copies.c, p3_shadow_passes.c, p3_shadow_patch.c, p3_shadow_system.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"
#include "p3_shadow_kernel.h"

#ifdef P3_SHADOWS

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

enum { PAGE = P3_SHADOW_PAGE, SAMPLES = 16 };

/* What a shadow and its twin both see. */
struct said {
    struct p3_shadow_marks marks; /* where the twin is to end: at the first that it can make out, */
    uint64_t used; /* which is this one */
    uint64_t took; /* 0: it is not over */
    uint32_t turn; /* 1: the twin's */
    struct p3_shadow_copies copies; /* pages that the shadow copied */
};
static struct said *said;
static long twin;
static int am_twin;

/* Pages that the program has written to, so that a twin's first write to each copies one. */
static _Alignas(PAGE) volatile char pages[SAMPLES * PAGE];

void p3_shadow_twin_prepare(void) { p3_shadow_write_to(pages, SAMPLES); }

/* It must not outlive the shadow. */
static void wait_for_turn(long shadow) {
    P3_CALL(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    if (P3_CALL(SYS_getppid, 0, 0, 0, 0, 0, 0) != shadow)
        P3_CALL(SYS_exit_group, 0, 0, 0, 0, 0, 0);
    while (__atomic_load_n(&said->turn, __ATOMIC_ACQUIRE) == 0)
        P3_CALL(SYS_futex, &said->turn, FUTEX_WAIT, 0, 0, 0, 0);
}

int p3_shadow_twin_fork(void) {
    int all = PROT_READ | PROT_WRITE, both = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
    long memory = P3_CALL(SYS_mmap, 0, sizeof *said, all, both, -1, 0);
    long shadow = P3_CALL(SYS_getpid, 0, 0, 0, 0, 0, 0);
    am_twin = 0;
    twin = -1;
    if (memory < 0 && memory > -PAGE)
        return 0;
    said = (struct said *)memory;
    twin = P3_CALL(SYS_clone, 0, 0, 0, 0, 0, 0);
    if (twin != 0)
        return 0;
    am_twin = 1;
    wait_for_turn(shadow);
    return 1;
}

/* A place that nothing but a trial comes by. */
__asm__(".text\n"
        ".p2align 4\n"
        ".type p3_shadow_nowhere, @function\n"
        "p3_shadow_nowhere: .skip 8, 0x90\n"
        "ret\n"
        ".size p3_shadow_nowhere, . - p3_shadow_nowhere\n");
void p3_shadow_nowhere(void) __asm__("p3_shadow_nowhere");

/* Where the breakpoint is, the byte there, how often control came by, and whether the instruction there runs alone;
 * nanoseconds that a pass takes. `over`: where passes are counted, the breakpoint that is met when there were
 * enough. */
static struct {
    uint8_t *at, byte;
    uint64_t times, over;
    double one;
    int alone;
} mark;

static uint64_t cpu(void) { return p3_shadow_clock(CLOCK_THREAD_CPUTIME_ID); }

static int set_breakpoint(uint64_t at) {
    mark.at = (uint8_t *)(uintptr_t)at;
    mark.byte = *mark.at;
    mark.times = 0;
    mark.alone = 0;
    if (!p3_shadow_open(at, 1))
        return 0;
    *mark.at = P3_SHADOW_BREAKPOINT;
    return 1;
}

/* Nanoseconds of a call, on average. */
static double time_calls(int calls) {
    uint64_t first = cpu();
    for (int i = 0; i < calls; i++)
        p3_shadow_nowhere();
    return (double)(cpu() - first) / calls;
}

/* What a pass takes is known from a trial, where that can be. */
static int is_counted(const struct p3_shadow_mark *of, const uint8_t *interrupted) {
    enum { TRIALS = 8192, NOP = 0x90, NOPS = 8 };
    static double one = -1;
    uint8_t *nowhere = (uint8_t *)(uintptr_t)p3_shadow_nowhere, *at = (uint8_t *)(uintptr_t)of->at, *room = NULL;
    if (of->is_entry && (room = p3_shadow_room_of(at)) == NULL)
        return 0;
    if (one < 0) {
        double without = time_calls(TRIALS);
        if (p3_shadow_count_passes(nowhere, NULL, 2 * TRIALS, interrupted) == 0)
            return 0;
        one = time_calls(TRIALS) - without;
        one = one < 0 ? 0 : one;
        memset(nowhere, NOP, NOPS); /* a breakpoint may be tried there next */
    }
    mark.over = p3_shadow_count_passes(at, room, of->times, interrupted);
    mark.times = of->times;
    mark.one = one;
    return mark.over != 0;
}

static int set_mark(const struct p3_shadow_mark *of, const uint8_t *interrupted) {
    enum { TRIALS = 8 };
    if (of->is_counted)
        return is_counted(of, interrupted);
    if (!set_breakpoint((uint64_t)(uintptr_t)p3_shadow_nowhere))
        return 0;
    mark.one = time_calls(TRIALS);
    return set_breakpoint(of->at);
}

int p3_shadow_twin_mark(const uint8_t *interrupted) {
    uint64_t traps = UINT64_C(1) << (SIGTRAP - 1);
    P3_CALL(SYS_rt_sigprocmask, SIG_UNBLOCK, &traps, 0, sizeof traps, 0, 0);
    for (said->used = 0; said->used < said->marks.n; said->used++)
        if (set_mark(&said->marks.of[said->used], interrupted))
            return 1;
    return 0;
}

/* What a fault takes the twin that the program does not have, and how many there were. */
static uint64_t fault, before, began;

void p3_shadow_twin_start(void) {
    int all = p3_shadow_copies_make(&said->copies);
    fault = all ? 0 : p3_shadow_write_to(pages, SAMPLES);
    before = p3_shadow_faults();
    began = cpu();
}

static void end(void) {
    for (;;)
        P3_CALL(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

/* A twin meets breakpoints, and copies pages that it could not copy before. What that takes is known on average alone:
 * half of the time is the most that is taken for it. */
static void tell(void) {
    uint64_t took = cpu() - began, more = (p3_shadow_faults() - before) * fault + (uint64_t)((double)mark.times * mark.one);
    took -= more < took / 2 ? more : took / 2;
    __atomic_store_n(&said->took, took == 0 ? 1 : took, __ATOMIC_RELEASE);
    end();
}

int p3_shadow_twin_break(long long *registers) {
    enum { STEP = 0x100 };
    if (!am_twin)
        return 0;
    if (mark.over != 0 && registers[REG_RIP] == (long long)mark.over + 1)
        tell();
    if (mark.alone) {
        mark.alone = 0;
        *mark.at = P3_SHADOW_BREAKPOINT;
        registers[REG_EFL] &= ~STEP;
        return 1;
    }
    if (registers[REG_RIP] != (long long)(uintptr_t)mark.at + 1)
        return 0;
    mark.times++;
    if ((uint64_t)(uintptr_t)mark.at == said->marks.of[said->used].at && mark.times == said->marks.of[said->used].times)
        tell();
    registers[REG_RIP]--;
    *mark.at = mark.byte;
    mark.alone = 1;
    registers[REG_EFL] |= STEP;
    return 1;
}

void p3_shadow_twin_end(void) {
    if (am_twin)
        end();
}

void p3_shadow_twin_drop(void) {
    if (twin <= 0)
        return;
    P3_CALL(SYS_kill, twin, SIGKILL, 0, 0, 0, 0);
    P3_CALL(SYS_wait4, twin, 0, __WCLONE, 0, 0, 0);
    twin = -1;
}

uint64_t p3_shadow_twin_ask(const struct p3_shadow_marks *marks, uint64_t patience, uint64_t *used) {
    static const struct timespec a_while = {0, 100000};
    uint64_t until = p3_shadow_clock(CLOCK_MONOTONIC) + patience;
    if (twin <= 0)
        return 0;
    p3_shadow_copies_find(&said->copies);
    said->marks = *marks;
    __atomic_store_n(&said->turn, 1, __ATOMIC_RELEASE);
    P3_CALL(SYS_futex, &said->turn, FUTEX_WAKE, 1, 0, 0, 0);
    while (P3_CALL(SYS_wait4, twin, 0, WNOHANG | __WCLONE, 0, 0, 0) == 0) {
        if (p3_shadow_clock(CLOCK_MONOTONIC) > until) {
            p3_shadow_twin_drop();
            return 0;
        }
        P3_CALL(SYS_nanosleep, &a_while, 0, 0, 0, 0, 0);
    }
    uint64_t took = __atomic_load_n(&said->took, __ATOMIC_ACQUIRE);
    *used = took == 0 ? 0 : said->used;
    return took;
}

#else
typedef int p3_no_shadows;
#endif
