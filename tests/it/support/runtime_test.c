/* Drives the C runtime by hand, as rewritten modules would. The first argument says what to do. */
#include "p3_abi.h"
#include "p3_format.h"
#include "p3_profile.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IDS = 5000, ROUNDS = 200000, THREADS = 8 };

static uint64_t counters[4096 / 8] __attribute__((aligned(4096)));
/* Of 5000 keys many share a place in it with others. */
static int64_t cache[1 + P3_CACHED];
static struct p3_table tables[1] = {{.func = 9, .bits = 64, .size = UINT64_C(1) << 40, .cache = cache}};
static struct {
    struct p3_raw_block header;
    struct p3_raw_function functions[3];
} block = {
    {.magic = P3_BLOCK_MAGIC,
     .size = 2 * 4096,
     .kind = P3_BLOCK_MODULE,
     .n_functions = 3,
     .counters_offset = 4096,
     .n_counters = sizeof counters / 8},
    {{7, P3_ARRAY, 4, 0}, {7, P3_ENTRIES, 1, 4}, {9, P3_HASH, UINT64_C(1) << 40, 0}},
};
static struct p3_module module = {
    .abi = P3_ABI,
    .n_tables = 1,
    .copy = 1,
    .copies = 3,
    .program = {1, 2, 3},
    .block = &block.header,
    .tables = tables,
    .counters = counters,
    .counters_size = sizeof counters,
    .page = 4096,
};

static uint64_t key(uint64_t id) { return (id + 1) * P3_HASH_FACTOR; }

/* A constructor that comes before ours counts as well. */
__attribute__((constructor(101))) static void early(void) {
    if (getenv("P3_TEST_EARLY") != NULL) {
        counters[0] += 100;
        for (uint64_t i = 0; i < 1000; i++)
            __p3_count(tables, key(i));
    }
}

/* Bit by bit, apart from the runtime's. */
static uint32_t crc32(uint32_t crc, const void *data, size_t n) {
    const uint8_t *p = data;
    for (crc = ~crc; n-- > 0; p++)
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (((crc ^ *p >> bit) & 1) ? UINT32_C(0xedb88320) : 0);
    return ~crc;
}

__attribute__((constructor)) static void construct(void) {
    uint32_t crc = crc32(0, &block.header.size, offsetof(struct p3_raw_block, used) - 8);
    block.header.crc = crc32(crc, block.functions, sizeof block.functions);
    __p3_register(&module);
}

/* Ids far apart; id i of IDS is counted i % 7 times a round. */
static uint64_t id(uint64_t i) { return i * UINT64_C(219999999) % (UINT64_C(1) << 40); }

static void count_hash(void (*count)(struct p3_table *, uint64_t)) {
    for (uint64_t round = 1; round < 7; round++)
        for (uint64_t i = 0; i < IDS; i++)
            if (i % 7 >= round)
                count(tables, key(id(i)));
    count(tables, 0);
}

static void *hammer(void *unused) {
    for (int i = 0; i < ROUNDS; i++)
        __p3_add_atomic(&counters[i % 4]);
    count_hash(__p3_count_atomic);
    return unused;
}

static void threads(void) {
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, hammer, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

static void stop(const char *how) {
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(5);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
}

static volatile int handled;

/* Counts new ids, whatever is interrupted: tables grow in here as well. */
static void handler(int number) {
    (void)number;
    for (int i = 0; i < 50; i++)
        __p3_count(tables, key(1000000 + (uint64_t)(handled * 50 + i)));
    handled++;
}

static void signals(void) {
    struct itimerval often = {{0, 50}, {0, 50}};
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; handled < 400; i++)
        __p3_count(tables, key((uint64_t)(i % 900000)));
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    printf("%d\n", handled);
}

static void count_ids(uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; i++)
        __p3_count(tables, key(i));
}

/* Counts what the second argument says under strict seccomp, and ends. */
static void sandbox(const char *ids) {
    uint64_t n = strtoull(ids, NULL, 10);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        _exit(9);
    __p3_add(&counters[3]);
    count_ids(0, n);
    syscall(SYS_exit, 0);
}

/* The limit before. */
static rlim_t limit_memory(rlim_t soft) {
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = soft;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        abort();
    return before;
}

/* Without memory for a while, and then with it. */
static void lose(void) {
    errno = 77;
    rlim_t before = limit_memory(1);
    count_ids(0, 200000);
    limit_memory(before);
    count_ids(200000, 400000);
    if (errno != 77)
        abort();
}

static void *count_cancelled(void *unused) {
    (void)unused;
    pthread_cancel(pthread_self());
    count_hash(__p3_count);
    return tables;
}

/* errno stays, and no thread ends, while tables grow and when modules register; nothing can be said. */
static void notice(void) {
    void *result;
    for (int fd = 2; fd < 1024; fd++)
        close(fd);
    pthread_t thread;
    struct p3_module other = module;
    errno = 77;
    __p3_register(&module);
    other.abi++;
    __p3_register(&other);
    other = module;
    other.copy++;
    __p3_register(&other);
    if (errno != 77)
        abort();
    pthread_create(&thread, NULL, count_cancelled, NULL);
    pthread_join(thread, &result);
    if (result != tables)
        abort();
}

/* A child after what programs do to their environment. */
static void stray(const char *how) {
    if (strcmp(how, "clearenv") == 0)
        clearenv();
    if (strcmp(how, "chdir") == 0 && chdir("/") != 0)
        abort();
    if (strcmp(how, "chroot") == 0 && (chroot("jail") != 0 || chdir("/") != 0))
        abort();
    if (fork() == 0) {
        count_ids(0, 10000);
        exit(0);
    }
    wait(NULL);
}

/* Children of a process with threads that allocate, lock and count. */
static volatile int running = 1;
static void *keep_busy(void *unused) {
    for (unsigned i = 0; running; i++) {
        free(malloc(i % 4096 + 1));
        setenv("P3_TEST_BUSY", i % 2 ? "a" : "b", 1);
        __p3_count_atomic(tables, key(i % 20000));
    }
    return unused;
}

static void fork_often(void) {
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, keep_busy, NULL);
    for (int i = 0; i < 200; i++) {
        if (fork() == 0) {
            count_ids(0, 3000);
            _exit(0);
        }
        wait(NULL);
    }
    running = 0;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
}

static void limit(int what, rlim_t soft) {
    struct rlimit limit;
    getrlimit(what, &limit);
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    if (setrlimit(what, &limit) != 0)
        abort();
}

/* A child that can make no file, for lack of what `how` begins with: it and one of its own count and end as the rest
 * says. */
static void starve(const char *how) {
    int memory = strncmp(how, "memory", 6) == 0, twice = strstr(how, "twice") != NULL;
    limit(memory ? RLIMIT_AS : RLIMIT_NOFILE, memory ? 1 << 20 : 3);
    if (fork() == 0) {
        if (twice && fork() == 0)
            twice = 0;
        for (int i = 0; i < 1000; i++)
            __p3_add(&counters[3]);
        if (strstr(how, "table") != NULL)
            count_ids(0, 1);
        if (twice)
            wait(NULL);
        if (strstr(how, "later") != NULL)
            limit(RLIMIT_NOFILE, 64);
        if (strstr(how, "_exit") != NULL)
            _exit(0);
        if (strstr(how, "kill") != NULL)
            raise(SIGKILL);
        exit(0);
    }
    for (int i = 0; i < 7; i++)
        __p3_add(&counters[3]);
    wait(NULL);
}

/* Descriptors were as few as standard streams; from now on there are more. What follows `how` is done with them. */
static void recover(const char *how) {
    if (strcmp(how, "never") == 0)
        return;
    limit(RLIMIT_NOFILE, 64);
    if (strcmp(how, "dump") != 0)
        return;
    if (p3_profile_dump() != 0)
        abort();
    limit(RLIMIT_NOFILE, 3);
    if (fork() == 0) {
        limit(RLIMIT_NOFILE, 64);
        exit(0);
    }
    wait(NULL);
    _exit(3);
}

/* From now on any system call but the two that end a program kills it. */
static void jail(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(9);
    count_ids(0, 100);
}

/* A child that cannot leave its parent's counters. */
static void stick(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(9);
    if (fork() == 0) {
        __p3_add(&counters[3]);
        exit(0);
    }
    wait(NULL);
}

static volatile int signalled;
static void on_pipe(int number) {
    (void)number;
    signalled = 1;
}

/* The runtime says something where nobody reads it; what was pending before stays so. */
static void speak(void) {
    int ends[2];
    sigset_t pipe_signal, pending;
    struct p3_module other = module;
    other.abi++;
    if (pipe(ends) != 0 || dup2(ends[1], 2) != 2 || close(ends[0]) != 0 || close(ends[1]) != 0)
        abort();
    signal(SIGPIPE, on_pipe);
    __p3_register(&other);
    if (signalled)
        abort();
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_signal, NULL);
    __p3_register(&other);
    if (sigpending(&pending) != 0 || sigismember(&pending, SIGPIPE))
        abort();
    raise(SIGPIPE);
    __p3_register(&other);
    if (sigpending(&pending) != 0 || !sigismember(&pending, SIGPIPE))
        abort();
}

/* Without descriptors, but those of standard streams, until standard input ends. */
static void linger(void) {
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    puts("ready");
    fflush(stdout);
    for (char c; read(0, &c, 1) > 0;)
        count_hash(__p3_count);
    count_hash(__p3_count);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    __p3_register(&module); /* once more: nothing happens */
    for (int i = 0; i < 10; i++)
        __p3_add(&counters[i % 3]);
    if (strcmp(what, "hash") == 0)
        count_hash(__p3_count);
    if (strcmp(what, "threads") == 0)
        threads();
    if (strcmp(what, "fork") == 0) {
        count_hash(__p3_count);
        if (fork() == 0) {
            __p3_add(&counters[3]);
            __p3_count(tables, key(5));
            exit(0);
        }
        wait(NULL);
    }
    if (strcmp(what, "reset") == 0) {
        count_hash(__p3_count);
        p3_profile_reset();
        __p3_add(&counters[2]);
    }
    if (strcmp(what, "dump") == 0) {
        int result = p3_profile_dump();
        __p3_add(&counters[3]);
        fflush(stdout);
        _exit(result == 0 ? 5 : 6);
    }
    if (strcmp(what, "signals") == 0)
        signals();
    if (strcmp(what, "sandbox") == 0)
        sandbox(argv[2]);
    if (strcmp(what, "lose") == 0)
        lose();
    if (strcmp(what, "notice") == 0)
        notice();
    if (strcmp(what, "linger") == 0)
        linger();
    if (strcmp(what, "stray") == 0)
        stray(argv[2]);
    if (strcmp(what, "fork_often") == 0)
        fork_often();
    if (strcmp(what, "starve") == 0)
        starve(argv[2]);
    if (strcmp(what, "recover") == 0)
        recover(argv[2]);
    if (strcmp(what, "jail") == 0)
        jail();
    if (strcmp(what, "stick") == 0)
        stick();
    if (strcmp(what, "speak") == 0)
        speak();
    if (strcmp(what, "umask") == 0) {
        umask(0777);
        execl("/proc/self/exe", argv[0], (char *)NULL);
    }
    if (strcmp(what, "stop") == 0) {
        counters[4]++;
        count_hash(__p3_count);
        stop(argv[2]);
    }
    if (strcmp(what, "close") == 0) { /* as daemons do */
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        if (chdir("/") != 0)
            return 9;
        count_ids(0, 100000);
    }
    return 3;
}
