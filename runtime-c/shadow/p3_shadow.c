// SPDX-License-Identifier: MIT OR Apache-2.0
/* The forker: a timer on the processor time of the process, whose signal forks shadows.
 *
 * Calls: p3_chance.c, p3_file.c, p3_layout.c, p3_live.c, p3_name.c, p3_quiet.c, p3_register.c, p3_shadow_ask.c, p3_shadow_child.c, p3_shadow_cost.c, p3_shadow_files.c, p3_shadow_knobs.c, p3_shadow_patch.c, p3_shadow_spare.c, p3_shadow_system.c, p3_shadow_twin.c, p3_shadow_watch.c.
 * In signal handlers: what the timer's signal needs. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifndef P3_SHADOWS

void __p3_register_shadow(struct p3_module *module) {
    static int said;
    __p3_register(module);
    if (!said)
        p3_complain("shadows", "they need Linux on x86-64: the program runs without shadows", 0);
    said = 1;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static struct p3_shadow_knobs knobs = {.load = 0.5, .cost = 0.005, .burst = 10000000, .longest = 100000000, .limit = UINT64_C(2000000000), .signal = SIGURG};

static struct p3_shadow_task task;
static struct {
    int pid;
    int64_t began;
} shadows[P3_SHADOWS_MOST];
static unsigned most;
static timer_t timer;
static int timed, stopped, tick_under_way;
/* Why they ended for good, the process that they are shadows of, and what PR_GET_SECCOMP gave it at first. */
static enum p3_shadow_ended ended_for;
static long owner, filtered_at_first;
static int can_share;
/* What the last fork that failed gave. */
static int fork_error;
/* What a burst takes that is as long as is asked for, in nanoseconds: a guess, until one is over. */
static int64_t took;
static uint64_t random_state;

static int64_t now(void) { return (int64_t)p3_shadow_clock(CLOCK_MONOTONIC); }

/* From 0 up to 1. */
static double part(void) { return (double)(p3_chance_next(&random_state) >> 11) / 9007199254740992.0; }

/* What lies between one shadow and the next, on average, in nanoseconds of processor time. */
static double period;

/* So that on average as many shadows live as the load says. */
static double by_load(void) { return (double)took / knobs.load; }

/* Or fewer, so that they cost no more than they may. */
static double wanted(void) {
    double load = by_load(), cost = p3_shadow_cost() / knobs.cost;
    double longer = load > cost ? load : cost;
    return longer < 100000 ? 100000 : longer > 1e11 ? 1e11 : longer;
}

/* What a shadow costs hardly depends on how long it lives. So where that makes them rare, each is as long as the load
 * has room for. */
static int64_t length(void) {
    double longer = (double)knobs.burst * period / by_load();
    return longer < (double)knobs.burst ? knobs.burst : longer > (double)knobs.longest ? knobs.longest : (int64_t)longer;
}

static void set_timer(double nanoseconds) {
    struct itimerspec at = {.it_value = {0, 0}};
    at.it_value.tv_sec = (time_t)(nanoseconds / 1e9);
    at.it_value.tv_nsec = (long)(nanoseconds - (double)at.it_value.tv_sec * 1e9) + 1;
    static int said;
    if (timer_settime(timer, 0, &at, NULL) != 0 && !stopped && !said) {
        said = 1;
        p3_complain("shadows", "their timer cannot be set: there are no more shadows", errno);
    }
}

/* The next one comes in any moment with the same probability, so it stands for the period that there was then, whatever
 * came before it. But first there is none for `rest` nanoseconds, of which that probability knows; half of a period at
 * the most, since without chance they would keep step with the program. */
static void arm(double rest) {
    period = wanted();
    if (rest > period / 2)
        rest = period / 2;
    set_timer(rest + (double)p3_chance_skip(&random_state, (uint64_t)(period - rest) + 1));
}

/* Where the period turns out to be longer than was thought, only so many of those that would come then do (Lewis &
 * Shedler, *Simulation of nonhomogeneous Poisson processes by thinning*, 1979). */
static int is_left_out(void) {
    double before = period, longer = wanted();
    if (longer <= before)
        return 0;
    period = longer;
    return part() * longer >= before;
}

/* How long there is no room for another one, on average. */
static double lives(void) { return (double)took * (double)task.burst / (double)knobs.burst / most; }

static void count(uint64_t *counter) {
    if (task.counts != NULL)
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* Those that ended; and those that should have by now, with their twins. The number of those that live. */
static unsigned reap(void) {
    unsigned alive = 0;
    for (unsigned i = 0; i < P3_SHADOWS_MOST; i++) {
        if (shadows[i].pid == 0)
            continue;
        long ended = P3_CALL(SYS_wait4, shadows[i].pid, 0, WNOHANG | __WCLONE, 0, 0, 0);
        if (ended == 0 && now() - shadows[i].began > 2 * (int64_t)knobs.limit + 1000000000)
            P3_CALL(SYS_kill, shadows[i].pid, SIGKILL, 0, 0, 0, 0);
        if (ended != 0)
            shadows[i].pid = 0;
        else
            alive++;
    }
    if (task.counts != NULL && __atomic_load_n(&task.counts->last_took, __ATOMIC_RELAXED) != 0)
        took = (7 * took + (int64_t)__atomic_load_n(&task.counts->last_took, __ATOMIC_RELAXED)) / 8;
    return alive;
}

static void note_descriptors(void) {
    for (int fd = 0; fd < P3_OFFSETS; fd++) {
        task.offsets[fd] = P3_CALL(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
        if (task.offsets[fd] != -EBADF)
            task.flags[fd] = (int32_t)P3_CALL(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
    }
}

/* Where memory is short, the system ends a shadow first. The program's own score is never touched. */
static void go_first(void) {
    static const char most[] = "1000";
    long fd = P3_CALL(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY, 0, 0, 0);
    if (fd < 0)
        return;
    P3_CALL(SYS_write, fd, most, sizeof most - 1, 0, 0, 0);
    P3_CALL(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* Whether this is the shadow. */
static int fork_one(void *context) {
    unsigned i = 0;
    while (shadows[i].pid != 0)
        i++;
    note_descriptors();
    task.parent = (int)P3_CALL(SYS_getpid, 0, 0, 0, 0, 0, 0);
    task.thread = (int)P3_CALL(SYS_gettid, 0, 0, 0, 0, 0, 0);
    task.above = (int)P3_CALL(SYS_getppid, 0, 0, 0, 0, 0, 0);
    task.period = (uint64_t)period;
    task.burst = length();
    task.shares_table = can_share && p3_shadow_can_be_seen();
    shadows[i].began = now();
    /* Without a signal at its end: the program's own wait() does not see it. A descriptor in a shared table is open
     * once, and closed when the program closes it; with a copy of the table it would stay open until the shadow
     * runs. */
    long pid = P3_CALL(SYS_clone, task.shares_table ? CLONE_FILES : 0, 0, 0, 0, 0, 0);
    if (pid == 0) {
        p3_shadow_let_go(&task);
        go_first();
        p3_shadow_become(&task, context);
    }
    if (pid > 0) {
        shadows[i].pid = (int)pid;
        p3_shadow_cost_fork();
        count(&task.counts->started);
    } else if (pid < 0) {
        fork_error = (int)-pid;
        count(&task.counts->not_forked);
    }
    return pid == 0;
}

/* Some calls end early when a handler has run, whatever SA_RESTART says. Where libc made one, it is made again. */
static void call_again(void *context) {
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *p = (const uint8_t *)r[REG_RIP];
    if (r[REG_RAX] != -EINTR || p[-1] != 0x05 || p[-2] != 0x0f || p[-7] != 0xb8)
        return;
    uint32_t number;
    memcpy(&number, p - 6, sizeof number);
    r[REG_RAX] = number;
    r[REG_RIP] -= 2;
}

/* Says once why there are none. */
static int are_impossible(void) {
    uint64_t why = task.counts == NULL ? 0 : __atomic_load_n(&task.counts->impossible, __ATOMIC_RELAXED);
    if (why == 0)
        return 0;
    stopped = 1;
    p3_complain("shadows", why == P3_END_TEXT ? "code cannot be made writable here: the program runs without shadows"
                                              : "system calls cannot be filtered here (seccomp): the program runs without shadows", 0);
    return 1;
}

/* `spent`: nanoseconds. */
static void say_cost(uint64_t spent) {
    if (task.counts == NULL)
        return;
    __atomic_store_n(&task.counts->time, p3_shadow_clock(CLOCK_PROCESS_CPUTIME_ID), __ATOMIC_RELAXED);
    __atomic_store_n(&task.counts->spent, spent, __ATOMIC_RELAXED);
}

static void end_for_good(enum p3_shadow_ended why);

static void note_end(enum p3_shadow_ended why) {
    ended_for = why;
    stopped = 1;
    p3_shadow_watch_end();
    if (task.counts != NULL)
        __atomic_store_n(&task.counts->ended, (uint64_t)why, __ATOMIC_RELAXED);
}

/* Whether the program's system calls are filtered now that were not at first, by a call that was not seen: any call
 * more may be the program's end, and none is made. */
static int is_filtered(void) {
    if (filtered_at_first == 0 && P3_CALL(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0)
        note_end(P3_SHADOW_FILTERED);
    return ended_for != P3_SHADOW_GOES_ON;
}

enum what_next { IN_SHADOW, NO_MORE, FORKED, NOT_FORKED };

static enum what_next tick(void *context) {
    if (stopped || are_impossible())
        return NO_MORE;
    unsigned alive = reap();
    say_cost(p3_shadow_cost_look());
    if (is_left_out())
        return NOT_FORKED;
    if (alive >= most)
        count(&task.counts->busy);
    else if (!p3_shadow_spare())
        count(&task.counts->short_of_memory);
    else
        return fork_one(context) ? IN_SHADOW : FORKED;
    return NOT_FORKED;
}

/* The signal was sent by somebody else. A thread that believes to have it blocked has it pending. */
static void give_back(siginfo_t *info, void *context) {
    if (!p3_shadow_watch_hides())
        return;
    end_for_good(P3_SHADOW_SIGNAL_TAKEN);
    sigaddset(&((ucontext_t *)context)->uc_sigmask, knobs.signal);
    P3_CALL(SYS_rt_tgsigqueueinfo, owner, P3_CALL(SYS_gettid, 0, 0, 0, 0, 0, 0), knobs.signal, info, 0, 0);
}

static void on_timer(int signal, siginfo_t *info, void *context) {
    (void)signal;
    int error = errno;
    enum { RETRY = 100000 };
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &task) {
        give_back(info, context);
        return;
    }
    if (stopped || is_filtered()) {
        call_again(context);
        return;
    }
    uint64_t began = p3_shadow_clock(CLOCK_THREAD_CPUTIME_ID);
    if (!__atomic_exchange_n(&tick_under_way, 1, __ATOMIC_ACQUIRE)) {
        enum what_next next = tick(context);
        if (next == IN_SHADOW)
            return;
        if (next != NO_MORE)
            arm(next == FORKED ? lives() : 0);
        p3_shadow_cost_signal(began);
        __atomic_store_n(&tick_under_way, 0, __ATOMIC_RELEASE);
    } else if (!stopped) {
        set_timer(RETRY); /* another thread is there still */
    }
    call_again(context);
    errno = error;
}

/* The block of counts, in the profile if there is one. */
static void share_counts(void) {
    struct p3_shadow_shared *shared = p3_map(4096);
    struct p3_file *file = p3_live_file();
    uint64_t at;
    if (shared == NULL)
        return;
    int fd = file == NULL ? -1 : p3_file_open(file);
    if (fd >= 0 && p3_file_claim(file, fd, file->page, &at) == 0 && p3_map_file(shared, 4096, fd, at) == 0) {
        shared->block = (struct p3_raw_block){.size = file->page, .kind = P3_BLOCK_SHADOWS};
        shared->block.crc = p3_block_crc(&shared->block);
        shared->counts.burst = knobs.burst < knobs.longest ? 0 : (uint64_t)knobs.burst;
        shared->counts.load = (uint64_t)(knobs.load * 1000);
        shared->counts.cost = (uint64_t)(knobs.cost * 1e6);
        __atomic_store_n(&shared->block.magic, P3_BLOCK_MAGIC, __ATOMIC_RELEASE);
        task.counts = &shared->counts;
    }
    if (fd >= 0)
        close(fd);
}

/* A descriptor of the profile for shadows, and its header. */
static int open_profile(void) {
    struct p3_file *file = p3_live_file();
    int fd = file == NULL ? -1 : p3_file_open(file);
    if (fd < 0)
        return 0;
    task.header = p3_map(file->page);
    if (task.header == NULL || p3_map_file(task.header, file->page, fd, 0) != 0)
        return 0;
    task.file = p3_move_up(fd);
    return task.file >= 0;
}

static const char *start_timer(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, old;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = knobs.signal};
    event.sigev_value.sival_ptr = &task;
    action.sa_sigaction = on_timer;
    sigemptyset(&action.sa_mask);
    if (sigaction(knobs.signal, NULL, &old) != 0 || old.sa_handler != SIG_DFL)
        return "the signal is taken: choose another signal, like P3_SHADOW=signal=40";
    if (sigaction(knobs.signal, &action, NULL) != 0)
        return "the signal cannot be handled";
    timed = timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0;
    if (timed)
        p3_shadow_watch_start(knobs.signal, end_for_good);
    return timed ? NULL : "no timer can be had";
}

/* Where shadows cannot be, and why. */
static const char *start(void) {
    cpu_set_t cores;
    if (!p3_shadow_read_knobs(&knobs, getenv("P3_SHADOW")))
        return "P3_SHADOW is not understood; write, for example, load=0.5,burst=10M,cost=0.5%,limit=2s,signal=40, or off";
    if (knobs.off)
        return NULL;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) < 2)
        return "there is one core, and the program needs it";
    if (!open_profile())
        return "there is no profile for them to write to";
    share_counts();
    p3_shadow_twin_prepare();
    p3_shadow_cost_start();
    p3_shadow_spare_find();
    task.asked = knobs.burst;
    task.limit = knobs.limit;
    task.signal = knobs.signal;
    can_share = p3_shadow_can_share();
    owner = P3_CALL(SYS_getpid, 0, 0, 0, 0, 0, 0);
    filtered_at_first = P3_CALL(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0);
    most = (unsigned)knobs.load + ((double)(unsigned)knobs.load < knobs.load);
    took = knobs.burst; /* about a nanosecond for each instruction */
    random_state = (uint64_t)now() ^ (uint64_t)getpid() << 32;
    const char *problem = start_timer();
    if (problem == NULL)
        arm(0);
    return problem;
}

static void begin(void) {
    const char *problem = start();
    if (problem != NULL)
        p3_complain("shadows", problem, 0);
}

/* A forked child has its parent's shadows no more, and a profile of its own. */
static void in_child(void) {
    struct p3_quiet before = p3_enter();
    memset(shadows, 0, sizeof shadows);
    tick_under_way = 0;
    if (timed && ended_for == P3_SHADOW_GOES_ON) {
        close(task.file);
        task.counts = NULL;
        timed = 0;
        struct sigaction none = {.sa_handler = SIG_DFL};
        sigaction(knobs.signal, &none, NULL);
        begin();
    }
    p3_leave(before);
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

void __p3_register_shadow(struct p3_module *module) {
    static int begun;
    __p3_register(module);
    struct p3_quiet before = p3_enter();
    task.modules = p3_registered();
    if (!begun && p3_shadow_any(task.modules)) {
        begun = 1;
        begin();
        watch_forks();
    }
    p3_leave(before);
}

static const struct timespec a_while = {0, 200000};

/* They have a tenth of a second to hand over what they have. */
static void end_all(void) {
    enum { MOMENTS = 500 };
    for (unsigned i = 0; i < P3_SHADOWS_MOST; i++)
        if (shadows[i].pid != 0)
            P3_CALL(SYS_kill, shadows[i].pid, knobs.signal, 0, 0, 0, 0);
    for (int i = 0; i < MOMENTS && reap() > 0; i++)
        nanosleep(&a_while, NULL);
    for (unsigned i = 0; i < P3_SHADOWS_MOST; i++)
        if (shadows[i].pid != 0) {
            P3_CALL(SYS_kill, shadows[i].pid, SIGKILL, 0, 0, 0, 0);
            P3_CALL(SYS_wait4, shadows[i].pid, 0, __WCLONE, 0, 0, 0);
        }
}

static void end_timer(void) {
    stopped = 1;
    if (timed)
        timer_delete(timer);
    int64_t began_to_end = now();
    end_all();
    say_cost(p3_shadow_cost_look() + (uint64_t)(now() - began_to_end));
}

/* Before the program's call is made that they would be felt by. In a shadow the same call ends the burst. Another
 * thread may be forking one: that is waited for, but not for ever, since it may be what this handler has
 * interrupted. */
static void end_for_good(enum p3_shadow_ended why) {
    enum { MOMENTS = 50 };
    int mine = 0;
    if (!timed || stopped || P3_CALL(SYS_getpid, 0, 0, 0, 0, 0, 0) != owner)
        return;
    note_end(why);
    for (int i = 0; i < MOMENTS && !(mine = !__atomic_exchange_n(&tick_under_way, 1, __ATOMIC_ACQUIRE)); i++)
        P3_CALL(SYS_nanosleep, &a_while, 0, 0, 0, 0, 0);
    end_timer();
    if (mine)
        __atomic_store_n(&tick_under_way, 0, __ATOMIC_RELEASE);
}

static int never_forked(void) {
    return task.counts != NULL && task.counts->started == 0 && task.counts->not_forked > 0;
}

static void at_exit(void) {
    if (!timed || ended_for != P3_SHADOW_GOES_ON)
        return; /* there was none, or system calls may be filtered */
    struct p3_quiet before = p3_enter();
    int stopped_before = stopped;
    end_timer();
    if (!stopped_before && !are_impossible() && never_forked())
        p3_complain("shadows", "no fork succeeded: the program ran without shadows", fork_error);
    p3_leave(before);
}

/* Before the profile is closed. */
__attribute__((section(".fini_array.00001"), used)) static void (*const last)(void) = at_exit;

#endif
