/* A twin of a shadow: how long a burst takes the program itself.
 *
 * Calls: p3_budget.c, p3_shadow_ask.c, p3_shadow_system.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { PAGE = P3_SHADOW_PAGE, SAMPLES = 16 };

/* What a shadow and its twin both see. */
struct said {
    int64_t instructions; /* that the twin is to execute */
    uint64_t took; /* 0: it is not over */
    uint32_t turn; /* 1: the twin's */
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
    __p3_burst.left = said->instructions;
}

int p3_shadow_twin_fork(void) {
    int all = PROT_READ | PROT_WRITE, both = MAP_SHARED | MAP_ANONYMOUS;
    long memory = P3_CALL(SYS_mmap, 0, PAGE, all, both, -1, 0);
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

/* What a fault takes, and how many there were. */
static uint64_t fault, before, began;

void p3_shadow_twin_start(void) {
    fault = p3_shadow_write_to(pages, SAMPLES);
    before = p3_shadow_faults();
    began = p3_shadow_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* A twin copies the pages that it writes to, which the program does not. What that takes is known on average alone: half of the time is the most
 * that is taken for it. */
void p3_shadow_twin_end(void) {
    if (!am_twin)
        return;
    uint64_t took = p3_shadow_clock(CLOCK_THREAD_CPUTIME_ID) - began, copying = (p3_shadow_faults() - before) * fault;
    took -= copying < took / 2 ? copying : took / 2;
    __atomic_store_n(&said->took, took == 0 ? 1 : took, __ATOMIC_RELEASE);
    for (;;)
        P3_CALL(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

void __p3_spent(void) { p3_shadow_twin_end(); }

uint64_t p3_shadow_twin_ask(int64_t instructions, uint64_t patience) {
    static const struct timespec a_while = {0, 100000};
    uint64_t end = p3_shadow_clock(CLOCK_MONOTONIC) + patience;
    if (twin <= 0)
        return 0;
    said->instructions = instructions;
    __atomic_store_n(&said->turn, 1, __ATOMIC_RELEASE);
    P3_CALL(SYS_futex, &said->turn, FUTEX_WAKE, 1, 0, 0, 0);
    while (P3_CALL(SYS_wait4, twin, 0, WNOHANG | __WCLONE, 0, 0, 0) == 0) {
        if (p3_shadow_clock(CLOCK_MONOTONIC) > end) {
            P3_CALL(SYS_kill, twin, SIGKILL, 0, 0, 0, 0);
            P3_CALL(SYS_wait4, twin, 0, __WCLONE, 0, 0, 0);
            return 0;
        }
        P3_CALL(SYS_nanosleep, &a_while, 0, 0, 0, 0, 0);
    }
    return __atomic_load_n(&said->took, __ATOMIC_ACQUIRE);
}

#else
typedef int p3_no_shadows;
#endif
