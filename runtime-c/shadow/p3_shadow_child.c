// SPDX-License-Identifier: MIT OR Apache-2.0
/* A shadow's life, from the fork to the end of its burst.
 *
 * Calls: p3_budget.c, p3_shadow_calls.c, p3_shadow_files.c, p3_shadow_memory.c, p3_shadow_patch.c, p3_shadow_record.c, p3_shadow_system.c, p3_shadow_twin.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>

enum { STACK = 1 << 16, PAGE = P3_SHADOW_PAGE };

/* As the kernel has it. */
struct action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
enum { RESTORER = 0x04000000 };

static const struct p3_shadow_task *task;
static _Alignas(64) char stack[STACK];

static int has_parent(void) { return P3_CALL(SYS_getppid, 0, 0, 0, 0, 0, 0) == task->parent; }

/* The parent is gone, or goes: what was counted by then is a burst as well. */
static void on_end(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    if (has_parent())
        p3_shadow_end(P3_END_PARENT, 0);
    P3_CALL(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

static void on_time(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    p3_shadow_end(P3_END_TIME, 0);
}

static void on_call(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    long call[] = {r[REG_RAX], r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    r[REG_RAX] = p3_shadow_imitate(call);
}

/* The header that was reached last, in which frame; and the place that is left without its breakpoint for one
 * instruction. */
static struct {
    uint64_t header, frame;
    int any;
} last;
static uint8_t *stepped_over;

/* A path begins at a header where it is reached on a back edge. That it is, is known when it was also the header that
 * this activation reached before: on any way from it to itself is a retreating edge, whose target is a header; so that
 * was the last edge of the way. (Of one header of a function, that of an interpreter, some ways may pass unnoticed:
 * then it was that header all the same, or another, which is noticed.) At all other times the instruction there runs,
 * alone, and the breakpoint is put back. */
static void on_break(int signal, siginfo_t *info, void *context) {
    enum { STEP = 0x100, BREAKPOINT = P3_SHADOW_BREAKPOINT };
    (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (p3_shadow_twin_break(r))
        return;
    if (stepped_over != NULL) {
        *stepped_over = BREAKPOINT;
        stepped_over = NULL;
        r[REG_EFL] &= ~STEP;
        return;
    }
    uint64_t at = (uint64_t)r[REG_RIP] - 1, frame = (uint64_t)r[REG_RSP];
    const struct p3_shadow_site *site = p3_shadow_site(at);
    if (site == NULL) {
        uint64_t room = p3_shadow_room(at);
        if (room == 0)
            p3_shadow_end(P3_END_SIGNAL, (uint32_t)signal);
        r[REG_RIP] = (greg_t)room;
        return;
    }
    r[REG_RIP]--;
    if (last.any && last.header == site->header && last.frame == frame) {
        r[REG_RIP] = (greg_t)site->way;
        last.any = 0;
        return;
    }
    last.header = site->header;
    last.frame = frame;
    last.any = 1;
    site->passed->times++;
    site->passed->left = (uint64_t)__p3_burst.left;
    stepped_over = (uint8_t *)(uintptr_t)at;
    *stepped_over = site->byte;
    r[REG_EFL] |= STEP;
}

/* Where the budget's guard is read, it is used up. */
static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)context;
    uint64_t at = (uint64_t)(uintptr_t)info->si_addr - (uint64_t)(uintptr_t)__p3_burst.guard;
    if (signal == SIGSEGV && at < sizeof __p3_burst.guard)
        p3_shadow_end(P3_END_BURST, 0);
    p3_shadow_end(P3_END_SIGNAL, (uint32_t)signal);
}

static void on_any(int signal, siginfo_t *info, void *context) {
    (void)info, (void)context;
    p3_shadow_end(P3_END_SIGNAL, (uint32_t)signal);
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *)) {
    struct action action = {handler, SA_SIGINFO | SA_ONSTACK | RESTORER, p3_shadow_return, ~UINT64_C(0)};
    P3_CALL(SYS_rt_sigaction, signal, &action, 0, 8, 0, 0);
}

static uint64_t bit(int signal) { return UINT64_C(1) << (signal - 1); }

/* Signals for the program are the parent's; those that come from the code itself end the burst, or are what makes a
 * shadow. */
static void take_signals(ucontext_t *context) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    P3_CALL(SYS_sigaltstack, &own, 0, 0, 0, 0, 0);
    uint64_t open = bit(SIGSYS) | bit(SIGTRAP) | bit(SIGALRM) | bit(task->signal);
    for (int i = 1; i <= 64; i++)
        handle(i, on_any);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
        handle(faults[i], on_fault);
        open |= bit(faults[i]);
    }
    handle(SIGSYS, on_call);
    handle(SIGTRAP, on_break);
    handle(SIGALRM, on_time);
    handle(task->signal, on_end);
    uint64_t mask = ~open;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
}

/* A record without counts says why. */
static void fail(uint32_t why) {
    if ((why == P3_END_TEXT || why == P3_END_FILTER) && task->counts != NULL)
        __atomic_store_n(&task->counts->impossible, why, __ATOMIC_RELAXED);
    p3_shadow_end(why, 0);
}

static void set_limits(void) {
    struct rlimit none = {0, 0};
    P3_CALL(SYS_setrlimit, RLIMIT_CORE, &none, 0, 0, 0, 0);
    struct itimerval limit = {.it_value = {(time_t)(task->limit / 1000000000), (suseconds_t)(task->limit / 1000 % 1000000)}};
    P3_CALL(SYS_setitimer, ITIMER_REAL, &limit, 0, 0, 0, 0);
    P3_CALL(SYS_prctl, PR_SET_PDEATHSIG, task->signal, 0, 0, 0, 0);
    if (!has_parent()) /* it went before that */
        P3_CALL(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

void p3_shadow_become(const struct p3_shadow_task *of, void *context) {
    task = of;
    p3_shadow_calls_start(of);
    p3_shadow_record_start(of);
    p3_shadow_files_start(of);
    take_signals(context);
    set_limits();
    uint32_t why = p3_shadow_own_memory(of);
    if (why)
        fail(why);
    if (P3_CALL(SYS_mprotect, __p3_burst.guard, PAGE, PROT_NONE, 0, 0, 0) != 0)
        fail(P3_END_TEXT);
    int twin = p3_shadow_twin_fork();
    const void *at = (const void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (!twin && !p3_shadow_patch(of->modules, at))
        fail(P3_END_TEXT);
    if (twin && !p3_shadow_twin_mark(at))
        p3_shadow_twin_end(); /* the burst is untimed; that says nothing of others */
    if (!p3_shadow_filter())
        fail(P3_END_FILTER);
    if (twin)
        p3_shadow_twin_start();
    p3_shadow_clock_start();
}

#else
typedef int p3_no_shadows;
#endif
