// Ways in which threads come and go, by the first argument. Numbers follow: of threads, of rounds.
#define _GNU_SOURCE
#include "truth.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern void p3_profile_reset(void) __attribute__((weak));

enum { MOST = 1100 };
static pthread_t ids[MOST];
static pthread_barrier_t barrier;
static long rounds;

static void start(int i, void *(*run)(void *), void *argument) {
    if (pthread_create(&ids[i], NULL, run, argument) != 0) {
        perror("pthread_create");
        _exit(9);
    }
}

static void join(int threads) {
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

static void *meet_and_work(void *seed) {
    pthread_barrier_wait(&barrier);
    work(take_slot(), (unsigned)(uintptr_t)seed, rounds);
    return NULL;
}

// All are there before one of them works, and main works as well.
static void at_once(int threads) {
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++)
        start(i - 1, meet_and_work, (void *)(uintptr_t)i);
    meet_and_work(NULL);
    join(threads - 1);
}

static void *work_in_common_slot(void *slot) {
    work(slot, (unsigned)(uintptr_t)&slot, rounds);
    return NULL;
}

// One after the other: one slot does for all.
static void in_turn(int threads) {
    struct slot *slot = take_slot();
    for (int i = 0; i < threads; i++) {
        start(0, work_in_common_slot, slot);
        join(1);
    }
}

static pthread_key_t key;
static int detached;

static void count_at_end(void *slot) {
    work(slot, 7, 100);
}

static __attribute__((noinline)) void leave_from_within(struct slot *slot, int depth) {
    once(slot, (unsigned)depth);
    if (depth == 0)
        pthread_exit(NULL);
    leave_from_within(slot, depth - 1);
    once(slot, 1);
}

static void *leave(void *way) {
    struct slot *slot = take_slot();
    pthread_setspecific(key, slot);
    work(slot, 1, rounds);
    switch ((uintptr_t)way % 4) {
    case 0: // returns
        break;
    case 1:
        leave_from_within(slot, 5);
        break;
    case 2: // is cancelled
        for (;;) {
            work(slot, 3, 10);
            pthread_testcancel();
        }
    default: // is detached
        __atomic_fetch_add(&detached, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < 50; i++) {
            usleep(100);
            work(slot, (unsigned)i, 10);
        }
        __atomic_fetch_sub(&detached, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void count_at_exit(void) {
    work(take_slot(), 11, 100);
}

static void ends(int threads) {
    atexit(count_at_exit);
    pthread_key_create(&key, count_at_end);
    for (int i = 0; i < threads; i++) {
        start(i, leave, (void *)(uintptr_t)i);
        if (i % 4 == 2)
            pthread_cancel(ids[i]);
        if (i % 4 == 3)
            pthread_detach(ids[i]);
    }
    for (int i = 0; i < threads; i++)
        if (i % 4 != 3)
            pthread_join(ids[i], NULL);
    while (__atomic_load_n(&detached, __ATOMIC_SEQ_CST) != 0)
        usleep(100);
    // Their destructors are still to come.
    usleep(50000);
}

static void *work_for_ever(void *seed) {
    struct slot *slot = take_slot();
    unsigned n = (unsigned)(uintptr_t)seed;
    for (;;) {
        n = work(slot, n, 100);
        if (n % 64 == 0)
            sched_yield();
    }
}

static void *cancelled_anywhere(void *seed) {
    int before;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    return work_for_ever(seed);
}

static void wait_until_all_work(int threads) {
    for (int i = 0; i < threads; i++)
        while (truth()->slots[i].step[0] < 1000)
            usleep(100);
}

// main leaves in one of many ways while the others work.
static void leave_others(int threads, const char *how) {
    int is_cancelled = strcmp(how, "cancel") == 0;
    for (int i = 0; i < threads; i++)
        start(i, is_cancelled ? cancelled_anywhere : work_for_ever, (void *)(uintptr_t)i);
    wait_until_all_work(threads);
    if (is_cancelled) {
        for (int i = 0; i < threads; i++)
            pthread_cancel(ids[i]);
        join(threads);
    } else if (strcmp(how, "exit") == 0) {
        exit(0);
    } else if (strcmp(how, "_exit") == 0) {
        _exit(0);
    } else if (strcmp(how, "quick_exit") == 0) {
        quick_exit(0);
    } else if (strcmp(how, "exec") == 0) {
        execl("/bin/true", "true", (char *)NULL);
    } else {
        puts("begun");
        fflush(stdout);
        pause();
    }
}

// With `forks-hashed` the first four count in tables as well, in three of them each.
static int in_tables;
static void work_in_table(void *number, int more) {
    if (in_tables && (uintptr_t)number < 4)
        work_hashed((int)(uintptr_t)number + more, 3, rounds / 4);
}

// Children have one thread, their first.
static int alone;

static void *work_and_fork(void *number) {
    struct slot *slot = take_slot();
    work(slot, (unsigned)(uintptr_t)number, rounds);
    work_in_table(number, 0);
    pid_t child = fork();
    if (child == 0) {
        work(take_slot(), 5, rounds);
        work_in_table(number, 4);
        // The child has threads of its own, too.
        pthread_t other;
        rounds /= 2;
        if (!alone)
            pthread_create(&other, NULL, work_in_common_slot, take_slot());
        work(take_slot(), 6, rounds);
        if (!alone)
            pthread_join(other, NULL);
        if ((uintptr_t)number % 2)
            _exit(0);
        exit(0);
    }
    work(slot, 8, rounds);
    work_in_table(number, 8);
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        _exit(9);
    return NULL;
}

static void forks(int threads) {
    for (int i = 0; i < threads; i++)
        start(i, work_and_fork, (void *)(uintptr_t)i);
    work_and_fork((void *)(uintptr_t)threads);
    join(threads);
}

// With WITHOUT_HANDLERS the program refers to no function that installs one, and an increment need not be one
// instruction.
static void install(void (*handler)(int)) {
#ifndef WITHOUT_HANDLERS
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &action, NULL);
#else
    (void)handler;
    _exit(9);
#endif
}

static __thread struct slot *of_handler;

static void handle(int signal) {
    (void)signal;
    if (of_handler)
        work(of_handler, 9, 5);
}

static int working;

static void *work_and_be_interrupted(void *seed) {
    of_handler = take_slot();
    meet_and_work(seed);
    __atomic_fetch_sub(&working, 1, __ATOMIC_SEQ_CST);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void signals(int threads) {
    install(handle);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    working = threads;
    for (int i = 0; i < threads; i++)
        start(i, work_and_be_interrupted, (void *)(uintptr_t)i);
    pthread_barrier_wait(&barrier);
    while (__atomic_load_n(&working, __ATOMIC_SEQ_CST) > 0)
        for (int i = 0; i < threads; i++)
            pthread_kill(ids[i], SIGUSR2);
    pthread_barrier_wait(&barrier);
    join(threads);
}

// Threads work, wait, and work again; what they did before main's reset does not count.
static void *work_twice(void *seed) {
    meet_and_work(seed);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    work(take_slot(), (unsigned)(uintptr_t)seed, rounds / 3);
    return NULL;
}

static void resets(int threads) {
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        start(i, work_twice, (void *)(uintptr_t)i);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    p3_profile_reset();
    for (int i = 0; i < threads; i++)
        memset((void *)&truth()->slots[i], 0, sizeof(struct slot));
    pthread_barrier_wait(&barrier);
    join(threads);
}

static void *work_with_table(void *table) {
    pthread_barrier_wait(&barrier);
    work_hashed((int)(uintptr_t)table, (unsigned)(uintptr_t)table * 77, rounds);
    work(take_slot(), 1, rounds / 10);
    return NULL;
}

static void hashed(int threads) {
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++)
        start(i - 1, work_with_table, (void *)(uintptr_t)i);
    work_with_table(NULL);
    join(threads - 1);
}

// Unequal work: 8, 1 and no parts of it.
static void *work_by_name(void *name) {
    pthread_setname_np(pthread_self(), name);
    long parts = strcmp(name, "heavy") == 0 ? 8 : strcmp(name, "light") == 0;
    pthread_barrier_wait(&barrier);
    work(take_slot(), (unsigned)parts, rounds * parts);
    return NULL;
}

static void names(void) {
    static const char *all[] = {"heavy", "light", "idle"};
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; i++)
        start(i, work_by_name, (void *)all[i]);
    join(3);
}

static void *work_and_branch(void *depth) {
    pthread_t children[2];
    int left = (int)(uintptr_t)depth;
    for (int i = 0; i < 2 && left > 0; i++)
        pthread_create(&children[i], NULL, work_and_branch, (void *)(uintptr_t)(left - 1));
    work(take_slot(), (unsigned)left, rounds);
    for (int i = 0; i < 2 && left > 0; i++)
        pthread_join(children[i], NULL);
    return NULL;
}

// main is over before the others.
static void leave_main(int threads) {
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        start(i, meet_and_work, (void *)(uintptr_t)i);
    pthread_exit(NULL);
}

static struct slot *of_storm;
static int is_calm;

// In whichever thread it comes, from its first instruction to its last.
static void handle_storm(int signal) {
    (void)signal;
    for (unsigned n = 0; n < 6; n++) {
        step(n);
        __atomic_fetch_add(&of_storm->step[(n & 1) + (n % 3 == 0) * 2], 1, __ATOMIC_RELAXED);
    }
}

static void *send_storm(void *unused) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    while (!__atomic_load_n(&is_calm, __ATOMIC_SEQ_CST))
        kill(getpid(), SIGUSR2);
    return unused;
}

// Threads begin and end, with small stacks, while signals come to all of them.
static void storm(int threads) {
    struct slot *slot = take_slot();
    of_storm = take_slot();
    install(handle_storm);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    pthread_t sender;
    pthread_create(&sender, NULL, send_storm, NULL);
    // Two at a time: main works as well, and each is interrupted.
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&ids[0], &attributes, work_in_common_slot, slot) != 0)
            _exit(9);
        for (unsigned n = 0; n < 100; n++)
            step(n);
        for (unsigned n = 0; n < 100; n++)
            __atomic_fetch_add(&of_storm->step[(n & 1) + (n % 3 == 0) * 2], 1, __ATOMIC_RELAXED);
        join(1);
    }
    __atomic_store_n(&is_calm, 1, __ATOMIC_SEQ_CST);
    pthread_join(sender, NULL);
}

// Nothing may be opened or made longer any more; threads may begin.
static void forbid_files(void) {
#define DENY(name, more) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, more, 0)
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        DENY(openat, 4), DENY(fallocate, 3), DENY(ftruncate, 2), DENY(pwrite64, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(9);
}

int main(int argc, char **argv) {
    const char *way = argv[1];
    int threads = argc > 2 ? atoi(argv[2]) : 0;
    rounds = argc > 3 ? atol(argv[3]) : 0;
    truth();
    if (strcmp(way, "at-once") == 0)
        at_once(threads);
    else if (strcmp(way, "in-turn") == 0)
        in_turn(threads);
    else if (strcmp(way, "ends") == 0)
        ends(threads);
    else if (strcmp(way, "leave") == 0)
        leave_others(threads, argv[4]);
    else if (strcmp(way, "forks") == 0 || (in_tables = strcmp(way, "forks-hashed") == 0)) {
        alone = argc > 4 && strcmp(argv[4], "alone") == 0;
        forks(threads);
    }
    else if (strcmp(way, "signals") == 0)
        signals(threads);
    else if (strcmp(way, "resets") == 0)
        resets(threads);
    else if (strcmp(way, "hashed") == 0)
        hashed(threads);
    else if (strcmp(way, "names") == 0)
        names();
    else if (strcmp(way, "tree") == 0)
        work_and_branch((void *)(uintptr_t)threads);
    else if (strcmp(way, "leave-main") == 0)
        leave_main(threads);
    else if (strcmp(way, "storm") == 0)
        storm(threads);
    else if (strcmp(way, "filter") == 0) {
        forbid_files();
        at_once(threads);
    }
    else
        return 2;
    return 0;
}
