// SPDX-License-Identifier: MIT OR Apache-2.0
/* A signal that makes a program dump, reset or rotate its profile, without code of its own: P3_SIGNAL, P3_ON_SIGNAL.
 *
 * Calls: p3_name.c, p3_quiet.c.
 * In signal handlers: all but p3_signal_start and p3_signal_end, which are for constructors and dlclose.
 *
 * What a program installs for this signal later takes its place. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int number;
} NAMES[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ILL", SIGILL},     {"TRAP", SIGTRAP},
    {"ABRT", SIGABRT}, {"BUS", SIGBUS},   {"FPE", SIGFPE},   {"KILL", SIGKILL},   {"USR1", SIGUSR1},
    {"SEGV", SIGSEGV}, {"USR2", SIGUSR2}, {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},   {"TERM", SIGTERM},
    {"CHLD", SIGCHLD}, {"CONT", SIGCONT}, {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},   {"TTIN", SIGTTIN},
    {"TTOU", SIGTTOU}, {"URG", SIGURG},   {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ},   {"VTALRM", SIGVTALRM},
    {"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"IO", SIGIO},   {"SYS", SIGSYS},
};
static const char *const WISHES[] = {"dump", "reset", "rotate"}; /* as enum p3_wish */

static int (*doer)(enum p3_wish wish);
static enum p3_wish wish;
static int number; /* 0: none is taken */
static struct sigaction before;
/* Whether somebody is at the profile, and whether a signal came meanwhile. */
enum { FREE, HELD, ASKED };
static int state;
/* What was asked for could not be done where the signal came. */
static int waits;

/* A number from `first` to `last` after the prefix, or -1. */
static int number_after(const char *text, const char *prefix, int first, int last) {
    size_t n = strlen(prefix);
    char *end;
    if (strncmp(text, prefix, n) != 0 || text[n] < '0' || text[n] > '9')
        return -1;
    long value = strtol(text + n, &end, 10);
    return *end == 0 && value >= first && value <= last ? (int)value : -1;
}

/* 0 where no signal has this name. */
static int number_of(const char *name) {
    int n = number_after(name, "", 1, SIGRTMAX);
    if (n > 0)
        return n;
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    int range = SIGRTMAX - SIGRTMIN;
    if (strcmp(name, "RTMIN") == 0 || strcmp(name, "RTMAX") == 0)
        return name[3] == 'I' ? SIGRTMIN : SIGRTMAX;
    if ((n = number_after(name, "RTMIN+", 0, range)) >= 0)
        return SIGRTMIN + n;
    if ((n = number_after(name, "RTMAX-", 0, range)) >= 0)
        return SIGRTMAX - n;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(name, NAMES[i].name) == 0)
            return NAMES[i].number;
    return 0;
}

/* Where it returns, a fault is there again. */
static int is_fault(int n) { return n == SIGSEGV || n == SIGBUS || n == SIGFPE || n == SIGILL; }

static int change(int from, int to) {
    return __atomic_compare_exchange_n(&state, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int p3_signal_hold(void) { return change(FREE, HELD); }

static void serve(void) {
    if (!doer(wish))
        __atomic_store_n(&waits, 1, __ATOMIC_RELAXED);
}

void p3_signal_release(void) {
    while (!change(HELD, FREE)) {
        change(ASKED, HELD);
        serve();
    }
}

static void ask(void) {
    while (1) {
        if (change(FREE, HELD)) {
            serve();
            p3_signal_release();
            return;
        }
        /* Of those that come meanwhile, one more is done. */
        if (change(HELD, ASKED) || __atomic_load_n(&state, __ATOMIC_RELAXED) == ASKED)
            return;
    }
}

static void on_signal(int n) {
    (void)n;
    struct p3_quiet quiet = p3_enter();
    ask();
    p3_leave(quiet);
}

void p3_signal_again(void) {
    if (__atomic_exchange_n(&waits, 0, __ATOMIC_RELAXED) != 0)
        on_signal(0);
}

int p3_signal_waits(void) { return __atomic_load_n(&waits, __ATOMIC_RELAXED); }

/* What was asked for; 0: that is nothing known, and was said. */
static int find_wish(void) {
    const char *way = p3_on_signal_wanted();
    for (int i = 0; i < 3; i++)
        if (way == NULL || strcmp(way, WISHES[i]) == 0) {
            wish = (enum p3_wish)i;
            return 1;
        }
    p3_complain("P3_ON_SIGNAL", "neither dump, reset nor rotate: the signal does nothing", 0);
    return 0;
}

void p3_signal_start(int (*act)(enum p3_wish wish)) {
    const char *name = p3_signal_wanted();
    struct sigaction action = {.sa_flags = SA_RESTART};
    if (name == NULL || number != 0 || !find_wish())
        return;
    int n = number_of(name);
    if (n == 0) {
        p3_complain("P3_SIGNAL", "no signal has this name: give a name like USR1, or a number", 0);
        return;
    }
    doer = act;
    action.sa_handler = on_signal;
    sigfillset(&action.sa_mask);
    if (is_fault(n) || sigaction(n, &action, &before) != 0) {
        p3_complain("P3_SIGNAL", is_fault(n) ? "it is the signal of a fault, after which nothing can go on: choose another signal, like USR1"
                                             : "this signal cannot be caught: choose another signal, like USR1", 0);
        return;
    }
    number = n;
}

void p3_signal_end(void) {
    struct sigaction now;
    if (number != 0 && sigaction(number, NULL, &now) == 0 && now.sa_handler == on_signal)
        sigaction(number, &before, NULL);
    number = 0;
}

void p3_signal_forked(void) { state = FREE; }
