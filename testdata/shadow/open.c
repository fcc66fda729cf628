/* What is open, locked, pending or filtered, as a program and other processes see it. open MODE ROUNDS */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static unsigned work(unsigned n, unsigned rounds) {
    unsigned s = n;
    for (unsigned i = 0; i < rounds; i++)
        s = s & 1 ? s * 5 + i : s / 2 + (i ^ n);
    sink = s;
    return s;
}

/* Programs that are written, closed and run: how many could not be. */
static void programs(int rounds) {
    static char text[1 << 20];
    int busy = 0, other = 0, from = open("/bin/true", O_RDONLY);
    long size = read(from, text, sizeof text);
    close(from);
    for (int r = 0; r < rounds; r++) {
        int to = open("program", O_CREAT | O_WRONLY | O_TRUNC, 0755), status;
        work((unsigned)r, 300000);
        if (write(to, text, (size_t)size) != size)
            abort();
        work((unsigned)r, 300000);
        close(to);
        int pid = fork();
        if (pid == 0) {
            execl("./program", "program", (char *)NULL);
            _exit(errno == ETXTBSY ? 77 : 78);
        }
        waitpid(pid, &status, 0);
        busy += WEXITSTATUS(status) == 77;
        other += WEXITSTATUS(status) == 78;
        unlink("program");
    }
    printf("%d busy, %d other\n", busy, other);
}

/* Another process tries for a lock as soon as the program has closed the file. */
static void locks(int rounds) {
    int ask[2], told[2], failed = 0;
    char c = 0;
    if (pipe(ask) != 0 || pipe(told) != 0)
        abort();
    if (fork() == 0) {
        close(ask[1]);
        while (read(ask[0], &c, 1) > 0) {
            int fd = open("locked", O_RDWR);
            c = flock(fd, LOCK_EX | LOCK_NB) == 0 ? '0' : '1';
            close(fd);
            if (write(told[1], &c, 1) != 1)
                abort();
        }
        _exit(0);
    }
    close(ask[0]);
    for (int r = 0; r < rounds; r++) {
        int fd = open("locked", O_RDWR | O_CREAT, 0600);
        while (flock(fd, LOCK_EX) != 0)
            usleep(100);
        work((unsigned)r, 600000);
        close(fd);
        if (write(ask[1], "t", 1) != 1 || read(told[0], &c, 1) != 1)
            abort();
        failed += c == '1';
    }
    close(ask[1]);
    wait(NULL);
    printf("%d failed\n", failed);
}

/* A pipe has ended when the program has closed it: its reader is asked at once. */
static void ends(int rounds) {
    int late = 0;
    for (int r = 0; r < rounds; r++) {
        int ends[2];
        char c;
        if (pipe(ends) != 0)
            abort();
        work((unsigned)r, 600000);
        close(ends[1]);
        struct pollfd end = {.fd = ends[0], .events = POLLIN};
        late += poll(&end, 1, 0) != 1 || read(ends[0], &c, 1) != 0;
        close(ends[0]);
    }
    printf("%d late\n", late);
}

static int is_blocked(int signal) {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, signal);
}

/* Signals that are blocked and waited for: those alone come that were sent, and the mask is as it was said. */
static void masks(int rounds) {
    sigset_t all, old;
    struct timespec none = {0, 0};
    int strange = 0, first = is_blocked(SIGURG);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    int fd = signalfd(-1, &all, SFD_NONBLOCK);
    for (int r = 0; r < rounds; r++) {
        struct signalfd_siginfo info;
        siginfo_t found;
        int signal = 0;
        work((unsigned)r, 600000);
        strange += read(fd, &info, sizeof info) > 0;
        strange += sigtimedwait(&all, &found, &none) > 0;
        raise(SIGUSR1);
        sigwait(&all, &signal);
        strange += signal != SIGUSR1;
        raise(SIGUSR2);
        strange += sigwaitinfo(&all, &found) != SIGUSR2 || found.si_pid != getpid();
    }
    int blocked = is_blocked(SIGURG);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("%d strange, %d %d %d\n", strange, first, blocked, is_blocked(SIGURG));
}

/* The timer's signal is the program's own: it is blocked, sent and found. */
static void own_signal(int rounds) {
    sigset_t all, old, pending, one;
    struct timespec none = {0, 0};
    sigfillset(&all);
    sigemptyset(&one);
    sigaddset(&one, SIGURG);
    sigprocmask(SIG_BLOCK, &all, &old);
    work(1, 600000 * (unsigned)rounds);
    raise(SIGURG);
    sigpending(&pending);
    printf("%d ", sigismember(&pending, SIGURG));
    printf("%d ", sigtimedwait(&all, NULL, &none));
    printf("%d ", sigtimedwait(&one, NULL, &none));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    printf("%d\n", is_blocked(SIGURG));
}

/* What kills for everything but writing and ending: `strict`, a filter by prctl, one by its number. `returns`: it ends as programs do. */
static void filter(const char *how, int rounds) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    unsigned s = work(1, 600000 * (unsigned)rounds);
    char text[32];
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        abort();
    /* There is no such filter: it is only asked whether there can be one. */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0 || errno != EFAULT)
        abort();
    if (strcmp(how, "strict") == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0
        : strcmp(how, "number") == 0 ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0
                                     : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        abort();
    s += work(s, 600000 * (unsigned)rounds);
    /* No more of libc than that. */
    int n = 0;
    for (; s > 0; s /= 10)
        text[n++] = (char)('0' + s % 10);
    text[n++] = '\n';
    if (write(1, text, (size_t)n) != n)
        abort();
    if (strcmp(how, "returns") != 0)
        syscall(SYS_exit, 3);
}

int main(int argc, char **argv) {
    (void)argc;
    int rounds = atoi(argv[2]);
    if (strcmp(argv[1], "programs") == 0)
        programs(rounds);
    else if (strcmp(argv[1], "locks") == 0)
        locks(rounds);
    else if (strcmp(argv[1], "ends") == 0)
        ends(rounds);
    else if (strcmp(argv[1], "masks") == 0)
        masks(rounds);
    else if (strcmp(argv[1], "own-signal") == 0)
        own_signal(rounds);
    else
        filter(argv[1], rounds);
    return 3;
}
