// SPDX-License-Identifier: MIT OR Apache-2.0
/* Calls of the program by which it would feel shadows, or end them: filters of system calls, and masks of signals.
 *
 * A filter may kill the process for a call that the timer's handler makes. So before the program installs one, shadows
 * end for good. A program that blocks all signals and then asks for those that came would be given the timer's. So it
 * has the timer's signal unblocked all the same, is told that it is blocked, and never waits for it. Who names that
 * signal among few uses it: shadows end.
 *
 * The definitions are weak: a program's own ones take their place. Calls that libc makes itself do not come here; masks
 * of those hold for moments only.
 *
 * Calls: nothing.
 * In signal handlers: all but p3_shadow_watch_start. */
#define _GNU_SOURCE
#include "p3_shadow.h"
#include "p3_shadow_kernel.h"

#ifdef P3_SHADOWS

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#define WEAK __attribute__((weak, visibility("default")))

static void (*end)(enum p3_shadow_ended why);
static int watched; /* the timer's signal; 0: there is none */
static int is_over; /* shadows have ended: masks are what the program says */
static _Thread_local int is_hidden; /* whether this thread has blocked it, as the program believes */

static uint64_t bit(int signal) { return signal == 0 ? 0 : UINT64_C(1) << (signal - 1); }

/* A system call of the program: not from the place that the filter of a shadow lets pass. */
long p3_shadow_plain_call(long number, long a, long b, long c, long d, long e, long f) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".globl p3_shadow_plain_call\n"
        ".hidden p3_shadow_plain_call\n"
        ".type p3_shadow_plain_call, @function\n"
        "p3_shadow_plain_call:\n"
        P3_SYSTEM_CALL
        "    ret\n"
        ".size p3_shadow_plain_call, . - p3_shadow_plain_call\n");

static long result_of(long result) {
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

/* A filter without a program, or with flags that there are not, is only asked for to see whether there can be one. */
static int is_filter(long number, long a, long b, long c) {
    if (number == SYS_prctl)
        return a == PR_SET_SECCOMP && (b == SECCOMP_MODE_STRICT || (b == SECCOMP_MODE_FILTER && c != 0));
    return (a == SECCOMP_SET_MODE_STRICT && b == 0 && c == 0) || (a == SECCOMP_SET_MODE_FILTER && c != 0);
}

void p3_shadow_watch_call(long number, long a, long b, long c) {
    int error = errno;
    if (watched != 0 && is_filter(number, a, b, c))
        end(P3_SHADOW_FILTERED);
    errno = error;
}

WEAK int prctl(int option, ...) {
    va_list all;
    va_start(all, option);
    long a = va_arg(all, long), b = va_arg(all, long), c = va_arg(all, long), d = va_arg(all, long);
    va_end(all);
    p3_shadow_watch_call(SYS_prctl, option, a, b);
    return (int)result_of(p3_shadow_plain_call(SYS_prctl, option, a, b, c, d, 0));
}

/* As libc has it, without a frame: who makes a process with it may leave it on another stack. */
__asm__(".text\n"
        ".weak syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    cmp $157, %rdi\n" /* prctl */
        "    je 1f\n"
        "    cmp $317, %rdi\n" /* seccomp */
        "    je 1f\n"
        "0:\n"
        P3_SYSTEM_CALL
        "    cmp $-4095, %rax\n"
        "    jae 2f\n"
        "    ret\n"
        "1:  push %rdi\n"
        "    push %rsi\n"
        "    push %rdx\n"
        "    push %rcx\n"
        "    push %r8\n"
        "    push %r9\n"
        "    sub $8, %rsp\n"
        "    call p3_shadow_watch_call\n"
        "    add $8, %rsp\n"
        "    pop %r9\n"
        "    pop %r8\n"
        "    pop %rcx\n"
        "    pop %rdx\n"
        "    pop %rsi\n"
        "    pop %rdi\n"
        "    jmp 0b\n"
        "2:  neg %eax\n"
        "    push %rax\n"
        "    call __errno_location@PLT\n"
        "    pop %rcx\n"
        "    mov %ecx, (%rax)\n"
        "    mov $-1, %rax\n"
        "    ret\n"
        ".size syscall, . - syscall\n");

/* What the program says of signals, without the timer's where it says the same of many. */
static uint64_t without_watched(const sigset_t *set) {
    enum { FEW = 8, STANDARD = 31 };
    uint64_t given;
    memcpy(&given, set, sizeof given);
    if (is_over || (given & bit(watched)) == 0)
        return given;
    if (__builtin_popcountll(given & ((UINT64_C(1) << STANDARD) - 1)) <= FEW) {
        end(P3_SHADOW_SIGNAL_TAKEN);
        return given;
    }
    return given & ~bit(watched);
}

/* Those that libc keeps for itself are never blocked. */
static const uint64_t of_libc = UINT64_C(3) << 31;

static long change_mask(int how, const sigset_t *set, sigset_t *old) {
    uint64_t given = 0, asked = 0, before = 0;
    int was_hidden = is_hidden;
    if (set != NULL) {
        memcpy(&asked, set, sizeof asked);
        given = (how == SIG_UNBLOCK ? asked : without_watched(set)) & ~of_libc;
    }
    /* Known before a signal comes that was pending. */
    if (set != NULL) {
        int names = (asked & bit(watched)) != 0, hides = names && (given & bit(watched)) == 0;
        is_hidden = how == SIG_SETMASK ? hides : how == SIG_BLOCK ? was_hidden || hides : was_hidden && !names;
    }
    long result = p3_shadow_plain_call(SYS_rt_sigprocmask, how, (long)(set == NULL ? NULL : &given), (long)&before, sizeof given, 0, 0);
    if (result != 0) {
        is_hidden = was_hidden;
        return result;
    }
    if (old != NULL) {
        before |= was_hidden ? bit(watched) : 0;
        memcpy(old, &before, sizeof before);
    }
    return 0;
}

WEAK int sigprocmask(int how, const sigset_t *set, sigset_t *old) { return (int)result_of(change_mask(how, set, old)); }

WEAK int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) { return (int)-change_mask(how, set, old); }

/* One instruction sets the number, so that the timer's handler knows what to make again. */
static long wait_for(const uint64_t *set, siginfo_t *info, const struct timespec *timeout) {
    long result;
    register long size __asm__("r10") = sizeof *set;
    __asm__ volatile("mov %1, %%eax\n\tsyscall"
                     : "=&a"(result)
                     : "i"(SYS_rt_sigtimedwait), "D"(set), "S"(info), "d"(timeout), "r"(size)
                     : "rcx", "r11", "memory");
    return result;
}

WEAK int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout) {
    uint64_t given = without_watched(set);
    int type;
    /* It is a point where threads are cancelled. */
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    long result = wait_for(&given, info, timeout);
    pthread_setcanceltype(type, &type);
    if (result > 0 && info != NULL && info->si_code == SI_TKILL)
        info->si_code = SI_USER;
    return (int)result_of(result);
}

WEAK int sigwaitinfo(const sigset_t *set, siginfo_t *info) { return sigtimedwait(set, info, NULL); }

WEAK int sigwait(const sigset_t *set, int *signal) {
    int result, error = errno;
    while ((result = sigtimedwait(set, NULL, NULL)) < 0 && errno == EINTR)
        ;
    int problem = errno;
    errno = error;
    if (result < 0)
        return problem;
    *signal = result;
    return 0;
}

WEAK int signalfd(int fd, const sigset_t *set, int flags) {
    uint64_t given = without_watched(set);
    return (int)result_of(p3_shadow_plain_call(SYS_signalfd4, fd, (long)&given, sizeof given, flags, 0, 0));
}

void p3_shadow_watch_start(int signal, void (*ended)(enum p3_shadow_ended why)) {
    sigset_t set;
    uint64_t before;
    end = ended;
    watched = signal;
    is_over = 0;
    /* Who started the program may have blocked it. */
    sigemptyset(&set);
    sigaddset(&set, signal);
    p3_shadow_plain_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, (long)&before, sizeof before, 0, 0);
    is_hidden |= (before & bit(signal)) != 0;
}

void p3_shadow_watch_end(void) { is_over = 1; }

int p3_shadow_watch_hides(void) { return is_hidden; }

#else
typedef int p3_no_shadows;
#endif
