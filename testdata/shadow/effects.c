/* As calls.c does, for what fewer programs do: terminals, rings of requests, queues, events, orphans. effects MODE ROUNDS */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static unsigned work(unsigned n) {
    unsigned s = n;
    for (unsigned i = 0; i < 4000; i++)
        s = s & 1 ? s * 5 + i : s / 2 + (i ^ n);
    sink = s;
    return s;
}

/* What arrives at the other end of a terminal. */
static void terminal(int rounds) {
    int master = posix_openpt(O_RDWR | O_NOCTTY), status;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        abort();
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    struct termios raw;
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    int pid = fork();
    if (pid == 0) {
        close(slave);
        unsigned s = 1;
        long all = 0, n;
        char part[256];
        while ((n = read(master, part, sizeof part)) > 0)
            for (long i = 0; i < n; i++, all++)
                s = s * 31 + (unsigned char)part[i];
        printf("received %ld %u\n", all, s);
        fflush(stdout);
        _exit(0);
    }
    long failed = 0;
    char line[64];
    for (int i = 0; i < rounds; i++) {
        int n = snprintf(line, sizeof line, "%d %u\n", i, work((unsigned)i));
        failed += write(slave, line, (size_t)n) != n;
        struct termios now;
        failed += tcgetattr(slave, &now) != 0;
        if (i % 50 == 0) {
            now.c_cc[VMIN] = (cc_t)(1 + i / 50 % 200);
            failed += tcsetattr(slave, TCSADRAIN, &now) != 0;
            tcgetattr(slave, &raw);
            failed += raw.c_cc[VMIN] != 1 + i / 50 % 200;
        }
    }
    close(slave);
    close(master);
    waitpid(pid, &status, 0);
    printf("%ld failed, status %d\n", failed, status);
}

/* Requests to write, by memory that is shared with the system. */
static void rings(int rounds) {
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    int fd = (int)syscall(SYS_io_uring_setup, 8, &p), out = open("ring", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) {
        printf("none\n");
        return;
    }
    int all = PROT_READ | PROT_WRITE;
    char *sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned), all, MAP_SHARED, fd, IORING_OFF_SQ_RING);
    char *cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), all, MAP_SHARED, fd, IORING_OFF_CQ_RING);
    struct io_uring_sqe *sqes = mmap(NULL, p.sq_entries * sizeof *sqes, all, MAP_SHARED, fd, IORING_OFF_SQES);
    unsigned *tail = (unsigned *)(sq + p.sq_off.tail), mask = *(unsigned *)(sq + p.sq_off.ring_mask);
    unsigned *array = (unsigned *)(sq + p.sq_off.array), *done = (unsigned *)(cq + p.cq_off.head);
    unsigned *ended = (unsigned *)(cq + p.cq_off.tail), end_mask = *(unsigned *)(cq + p.cq_off.ring_mask);
    struct io_uring_cqe *cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
    long failed = 0, at = 0;
    char line[64];
    for (int i = 0; i < rounds; i++) {
        int n = snprintf(line, sizeof line, "%d %u\n", i, work((unsigned)i));
        unsigned slot = *tail & mask;
        memset(&sqes[slot], 0, sizeof *sqes);
        sqes[slot].opcode = IORING_OP_WRITE;
        sqes[slot].fd = out;
        sqes[slot].addr = (uint64_t)(uintptr_t)line;
        sqes[slot].len = (unsigned)n;
        sqes[slot].off = (uint64_t)at;
        array[slot] = slot;
        __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        failed += syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1;
        /* Any signal ends the wait. */
        while (__atomic_load_n(ended, __ATOMIC_ACQUIRE) == *done)
            syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
        failed += __atomic_load_n(ended, __ATOMIC_ACQUIRE) != *done + 1 || cqes[*done & end_mask].res != n;
        __atomic_store_n(done, *done + 1, __ATOMIC_RELEASE);
        at += n;
    }
    printf("%ld failed, %ld\n", failed, at);
}

/* Those of System V: a child receives, and adds up in memory. */
static void queues(int rounds) {
    struct {
        long kind;
        unsigned value;
    } message = {1, 0};
    int queue = msgget(IPC_PRIVATE, 0600), part = shmget(IPC_PRIVATE, 4096, 0600), turn = semget(IPC_PRIVATE, 1, 0600), status;
    long *sums = shmat(part, NULL, 0);
    shmctl(part, IPC_RMID, NULL);
    int pid = fork();
    if (pid == 0) {
        for (int i = 0; i < rounds; i++) {
            if (msgrcv(queue, &message, sizeof message.value, 0, 0) < 0)
                _exit(1);
            sums[0] += message.value % 1000;
        }
        _exit(0);
    }
    long failed = 0;
    for (int i = 0; i < rounds; i++) {
        message.value = work((unsigned)i);
        failed += msgsnd(queue, &message, sizeof message.value, 0) != 0;
        sums[1] += message.value % 1000;
        struct sembuf up = {0, 1, 0};
        failed += i % 3 == 0 && semop(turn, &up, 1) != 0;
    }
    waitpid(pid, &status, 0);
    printf("%ld failed, status %d, %ld, %d up\n", failed, status, sums[0] - sums[1], semctl(turn, 0, GETVAL));
    msgctl(queue, IPC_RMID, NULL);
    semctl(turn, 0, IPC_RMID);
}

/* Counters in descriptors. */
static void events(int rounds) {
    int counter = eventfd(0, EFD_NONBLOCK), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    uint64_t one = 1, sum = 0, expired = 0, part;
    long failed = 0;
    struct itimerspec later = {{0, 0}, {1000, 0}}, left;
    timerfd_settime(timer, 0, &later, NULL);
    for (int i = 0; i < rounds; i++) {
        work((unsigned)i);
        failed += write(counter, &one, sizeof one) != sizeof one;
        if (i % 30 == 29) {
            failed += read(counter, &part, sizeof part) != sizeof part;
            sum += part;
        }
        failed += timerfd_gettime(timer, &left) != 0 || left.it_value.tv_sec < 900;
        failed += read(timer, &expired, sizeof expired) > 0;
    }
    if (read(counter, &part, sizeof part) == sizeof part)
        sum += part;
    printf("%ld failed, %ld\n", failed, (long)sum);
}

/* Sockets are there before; what is met first is that they are connected. */
static void connects(int rounds) {
    enum { BATCH = 100 };
    struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "server"};
    int server = socket(AF_UNIX, SOCK_STREAM, 0), fds[BATCH];
    long accepted = 0, failed = 0;
    if (bind(server, (struct sockaddr *)&at, sizeof at) != 0 || listen(server, BATCH) != 0)
        abort();
    fcntl(server, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < rounds; i += BATCH) {
        for (int n = 0; n < BATCH; n++)
            fds[n] = socket(AF_UNIX, SOCK_STREAM, 0);
        for (int n = 0; n < BATCH; n++) {
            work((unsigned)n);
            failed += connect(fds[n], (struct sockaddr *)&at, sizeof at) != 0;
        }
        for (int fd; (fd = accept(server, NULL, NULL)) >= 0; accepted++)
            close(fd);
        for (int n = 0; n < BATCH; n++)
            close(fds[n]);
    }
    unlink("server");
    printf("%ld failed, %ld connections\n", failed, accepted);
}

/* It is given the children of its children that have no parent any more; it has none. */
static void orphans(int rounds) {
    long found = 0;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        abort();
    for (int i = 0; i < rounds; i++) {
        work((unsigned)i);
        if (i % 500 == 0)
            found += waitpid(-1, NULL, WNOHANG) > 0;
    }
    printf("%ld orphans\n", found);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(int);
    } modes[] = {{"terminal", terminal}, {"rings", rings}, {"queues", queues}, {"events", events}, {"connects", connects}, {"orphans", orphans}};
    if (argc != 3)
        return 2;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, argv[1]) == 0) {
            modes[i].run(atoi(argv[2]));
            return 3;
        }
    return 2;
}
