// SPDX-License-Identifier: MIT OR Apache-2.0
/* System calls of a shadow: allowed, imitated, or the end of its burst.
 *
 * The filter lets those pass that are made in p3_shadow_call; all others trap, so that every one is counted. That is a
 * filter of a dozen instructions, the same for every program, for which no library is needed.
 *
 * Calls: p3_shadow_files.c, p3_shadow_memory.c, p3_shadow_record.c, p3_shadow_system.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"
#include "p3_shadow_kernel.h"

#ifdef P3_SHADOWS

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static const struct p3_shadow_task *task;
/* What the program thinks of signals. */
static struct {
    unsigned long handler, flags, restorer, mask;
} actions[65];
static uint64_t blocked;

void p3_shadow_calls_start(const struct p3_shadow_task *of) {
    task = of;
    for (int i = 1; i <= 64; i++)
        P3_CALL(SYS_rt_sigaction, i, 0, &actions[i], 8, 0, 0);
    P3_CALL(SYS_rt_sigprocmask, SIG_BLOCK, 0, &blocked, 8, 0, 0);
}

/* Of a program that only asks, about itself or about files; what they change is the shadow's own. */
static const short allowed[] = {
    SYS_stat, SYS_fstat, SYS_lstat, SYS_newfstatat, SYS_statx, SYS_access, SYS_faccessat, SYS_faccessat2, SYS_readlink,
    SYS_readlinkat, SYS_statfs, SYS_fstatfs, SYS_getcwd, SYS_uname, SYS_getrusage, SYS_times, SYS_time,
    SYS_gettimeofday, SYS_clock_gettime, SYS_clock_getres, SYS_sysinfo, SYS_getrlimit, SYS_getuid, SYS_geteuid,
    SYS_getgid, SYS_getegid, SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_sched_getaffinity, SYS_sched_getparam,
    SYS_sched_getscheduler, SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_sched_yield, SYS_getpriority,
    SYS_getcpu, SYS_getrandom, SYS_brk, SYS_munmap, SYS_mincore, SYS_umask, SYS_chdir, SYS_fchdir, SYS_getxattr,
    SYS_fgetxattr, SYS_lgetxattr, SYS_getsockname, SYS_getpeername, SYS_getsockopt, SYS_set_robust_list, SYS_rseq,
    SYS_capget, SYS_getpgid, SYS_getpgrp, SYS_getsid};

/* What others would notice: the program is told that it is done. */
static const short assumed[] = {
    SYS_truncate, SYS_unlink, SYS_unlinkat, SYS_rename, SYS_renameat, SYS_renameat2, SYS_mkdir, SYS_mkdirat, SYS_rmdir,
    SYS_link, SYS_linkat, SYS_symlink, SYS_symlinkat, SYS_chmod, SYS_fchmod, SYS_fchmodat, SYS_chown, SYS_fchown,
    SYS_lchown, SYS_fchownat, SYS_utime, SYS_utimes, SYS_utimensat, SYS_futimesat, SYS_fsync, SYS_fdatasync, SYS_sync,
    SYS_syncfs, SYS_sync_file_range, SYS_fadvise64, SYS_readahead, SYS_flock, SYS_msync, SYS_mlock, SYS_mlock2,
    SYS_munlock, SYS_mlockall, SYS_munlockall, SYS_setitimer, SYS_alarm, SYS_timer_settime, SYS_timer_delete,
    SYS_timerfd_settime, SYS_setsockopt, SYS_epoll_ctl, SYS_nanosleep, SYS_clock_nanosleep, SYS_setpriority,
    SYS_sched_setaffinity, SYS_membarrier, SYS_setxattr, SYS_fsetxattr, SYS_lsetxattr, SYS_removexattr};

static int holds(const short *list, size_t size, long number) {
    for (size_t i = 0; i < size / sizeof *list; i++)
        if (list[i] == number)
            return 1;
    return 0;
}

/* Signals to itself are not imitated: its handlers would have to run. */
static int send_signal(const long *call, long *result) {
    long to = call[0] == SYS_tgkill ? call[2] : call[1], signal = call[0] == SYS_tgkill ? call[3] : call[2];
    if (signal != 0 && (to == task->parent || to == task->thread || to <= 0))
        return 0;
    *result = 0;
    return 1;
}

static int send_message(const long *call, long *result) {
    if (call[0] == SYS_sendto) {
        *result = call[3];
        return 1;
    }
    const struct msghdr *message = (const struct msghdr *)call[2];
    *result = 0;
    for (size_t i = 0; i < message->msg_iovlen; i++)
        *result += (long)message->msg_iov[i].iov_len;
    return 1;
}

/* Mappings of files are private, whatever they were to be. */
static int map(const long *call, long *result) {
    long flags = call[4];
    if (!(flags & MAP_ANONYMOUS) && !p3_shadow_can_map(call[5]))
        return 0;
    if ((flags & MAP_TYPE) != MAP_PRIVATE)
        flags = (flags & ~(long)(MAP_TYPE | MAP_SYNC)) | MAP_PRIVATE;
    *result = P3_CALL(SYS_mmap, call[1], call[2], call[3], flags, call[5], call[6]);
    return 1;
}

static int protect(const long *call, long *result) {
    if (call[3] & PROT_WRITE && p3_shadow_is_shared((uint64_t)call[1], (uint64_t)call[2]))
        return 0;
    *result = P3_CALL(call[0], call[1], call[2], call[3], 0, 0, 0);
    return 1;
}

static int move(const long *call, long *result) {
    *result = P3_CALL(SYS_mremap, call[1], call[2], call[3], call[4], call[5], 0);
    return 1;
}

static int advise(const long *call, long *result) {
    int own = call[3] == MADV_DONTNEED || call[3] == MADV_FREE;
    *result = own && !p3_shadow_is_shared((uint64_t)call[1], (uint64_t)call[2])
                  ? P3_CALL(SYS_madvise, call[1], call[2], call[3], 0, 0, 0)
                  : 0;
    return 1;
}

static int set_action(const long *call, long *result) {
    long signal = call[1];
    if (signal < 1 || signal > 64)
        return 0;
    if (call[3] != 0)
        memcpy((void *)call[3], &actions[signal], sizeof actions[signal]);
    if (call[2] != 0)
        memcpy(&actions[signal], (const void *)call[2], sizeof actions[signal]);
    *result = 0;
    return 1;
}

/* Signals stay blocked; ones that come are the end. */
static int set_mask(const long *call, long *result) {
    uint64_t given = 0, old = blocked;
    if (call[2] != 0) {
        memcpy(&given, (const void *)call[2], sizeof given);
        blocked = call[1] == SIG_BLOCK ? old | given : call[1] == SIG_UNBLOCK ? old & ~given : given;
    }
    if (call[3] != 0)
        memcpy((void *)call[3], &old, sizeof old);
    *result = 0;
    return 1;
}

/* Who waits for a lock waits for a thread that is not here. */
static int futex(const long *call, long *result) {
    long what = call[2] & FUTEX_CMD_MASK;
    if (what != FUTEX_WAKE && what != FUTEX_WAKE_BITSET)
        return 0;
    *result = 0;
    return 1;
}

/* A look, without waiting, at what is still open. */
static int look(const long *call, long *result) {
    const struct pollfd *all = (const struct pollfd *)call[1];
    for (unsigned long i = 0; i < (unsigned long)call[2]; i++)
        if (p3_shadow_is_let_go(all[i].fd))
            return 0;
    *result = P3_CALL(SYS_poll, call[1], call[2], 0, 0, 0, 0);
    return *result != 0 || call[3] == 0;
}

static int limit(const long *call, long *result) {
    *result = call[3] != 0 ? 0 : P3_CALL(SYS_prlimit64, call[1], call[2], 0, call[4], 0, 0);
    return 1;
}

static int name(const long *call, long *result) {
    if (call[1] != PR_SET_NAME && call[1] != PR_GET_NAME && call[1] != PR_GET_DUMPABLE && call[1] != PR_SET_VMA)
        return 0;
    *result = P3_CALL(SYS_prctl, call[1], call[2], call[3], call[4], call[5], 0);
    return 1;
}

static int handle(const long *call, long *result) {
    switch (call[0]) {
    case SYS_getpid:
        *result = task->parent;
        return 1;
    case SYS_gettid:
        *result = task->thread;
        return 1;
    case SYS_getppid:
        *result = task->above;
        return 1;
    case SYS_mmap:
        return map(call, result);
    case SYS_mprotect:
        return protect(call, result);
    case SYS_mremap:
        return move(call, result);
    case SYS_madvise:
        return advise(call, result);
    case SYS_rt_sigaction:
        return set_action(call, result);
    case SYS_rt_sigprocmask:
        return set_mask(call, result);
    case SYS_futex:
        return futex(call, result);
    case SYS_poll:
        return look(call, result);
    case SYS_prlimit64:
        return limit(call, result);
    case SYS_prctl:
        return name(call, result);
    default:
        return 0;
    }
}

static int assume(const long *call, long *result) {
    switch (call[0]) {
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
        return send_signal(call, result);
    case SYS_sendto:
    case SYS_sendmsg:
        return send_message(call, result);
    default:
        *result = 0;
        return holds(assumed, sizeof assumed, call[0]);
    }
}

static uint32_t why_it_ends(long number) {
    if (number == SYS_exit || number == SYS_exit_group)
        return P3_END_EXIT;
    return number == SYS_futex ? P3_END_LOCK : P3_END_CALL;
}

static void end_by(long number) {
    p3_shadow_met(number, P3_CALL_ENDED);
    p3_shadow_end(why_it_ends(number), (uint32_t)number);
}

long p3_shadow_imitate(const long *call) {
    long result = 0;
    uint32_t treatment = P3_CALL_ALLOWED;
    if (holds(allowed, sizeof allowed, call[0]))
        result = P3_CALL(call[0], call[1], call[2], call[3], call[4], call[5], call[6]);
    else if (p3_shadow_file_call(call, &result, &treatment))
        ;
    else if (handle(call, &result))
        treatment = P3_CALL_HANDLED;
    else if (assume(call, &result))
        treatment = P3_CALL_ASSUMED;
    else {
        end_by(call[0]);
    }
    /* The program has open what the shadow has let go. */
    if (result == -EBADF && p3_shadow_is_let_go(call[1]))
        end_by(call[0]);
    p3_shadow_met(call[0], treatment);
    return result;
}

int p3_shadow_filter(void) {
    enum { LOW = offsetof(struct seccomp_data, instruction_pointer), HIGH = LOW + 4 };
    uint64_t called = (uint64_t)(uintptr_t)p3_shadow_called;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)called, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, HIGH),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(called >> 32), 2, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return P3_CALL(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0) == 0 &&
           P3_CALL(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program, 0, 0, 0) == 0;
}

#else
typedef int p3_no_shadows;
#endif
