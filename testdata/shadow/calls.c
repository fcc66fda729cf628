/* Between pieces of work, calls whose effects are counted: what this prints does not depend on being shadowed. calls MODE ROUNDS */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static unsigned work(unsigned n) {
    unsigned s = n;
    for (unsigned i = 0; i < 4000; i++)
        s = s & 1 ? s * 5 + i : s / 2 + (i ^ n);
    sink = s;
    return s;
}

static unsigned sum(const char *p, size_t n) {
    unsigned s = 1;
    while (n-- > 0)
        s = s * 31 + (unsigned char)*p++;
    return s;
}

static void write_files(int rounds) {
    char line[64], all[1 << 16];
    int fd = open("log", O_RDWR | O_CREAT | O_TRUNC, 0600), other = open("appended", O_WRONLY | O_CREAT | O_APPEND, 0600);
    long failed = 0;
    for (int i = 0; i < rounds; i++) {
        int n = snprintf(line, sizeof line, "%d %u\n", i, work((unsigned)i));
        struct iovec parts[] = {{line, 2}, {line + 2, (size_t)n - 2}};
        failed += i % 2 ? write(fd, line, (size_t)n) != n : writev(fd, parts, 2) != n;
        failed += write(other, line, 1) != 1;
        if (i % 50 == 49)
            failed += ftruncate(fd, lseek(fd, 0, SEEK_CUR) - 1) != 0 || lseek(fd, 0, SEEK_END) < 0;
        failed += i % 2000 == 1999 && fsync(fd) != 0;
    }
    long n = pread(fd, all, sizeof all, 0);
    struct stat s, t;
    fstat(fd, &s);
    fstat(other, &t);
    printf("%ld failed, %ld, %ld, %u\n", failed, (long)s.st_size, (long)t.st_size, sum(all, (size_t)n));
}

static void read_files(int rounds) {
    char part[100];
    int fd = open("input", O_RDWR | O_CREAT | O_TRUNC, 0600), same = dup(fd);
    for (int i = 0; i < rounds; i++)
        dprintf(fd, "%d %u\n", i, (unsigned)i * 2654435761u);
    lseek(fd, 0, SEEK_SET);
    unsigned s = 0;
    long n, all = 0;
    for (int i = 0; (n = read(i % 2 ? fd : same, part, sizeof part)) > 0; i++) {
        s += sum(part, (size_t)n) + work((unsigned)i);
        all += n;
        if (i % 10 == 0)
            s += (unsigned)lseek(fd, 3, SEEK_CUR);
    }
    FILE *f = fopen("input", "r");
    char line[64];
    while (fgets(line, sizeof line, f) != NULL)
        s += (unsigned)strlen(line) + work(s);
    printf("%ld %u\n", all, s);
}

static void names(int rounds) {
    char a[32], b[32];
    long failed = 0;
    for (int i = 0; i < rounds; i++) {
        snprintf(a, sizeof a, "a%d", i);
        snprintf(b, sizeof b, "b%d", i);
        int fd = open(a, O_WRONLY | O_CREAT | O_EXCL, 0600);
        work((unsigned)i);
        failed += fd < 0 || close(fd) != 0;
        failed += rename(a, b) != 0 || chmod(b, 0640) != 0;
        work((unsigned)i);
        failed += mkdir(a, 0700) != 0 || access(b, F_OK) != 0;
        work((unsigned)i);
        failed += unlink(b) != 0 || rmdir(a) != 0;
    }
    printf("%ld failed\n", failed);
}

/* A peer says what it received. */
static void peer(int fd) {
    char part[256];
    long n, all = 0;
    unsigned s = 1;
    while ((n = read(fd, part, sizeof part)) > 0)
        for (long i = 0; i < n; i++, all++)
            s = s * 31 + (unsigned char)part[i];
    printf("received %ld %u\n", all, s);
    fflush(stdout);
    _exit(0);
}

static void send_all(int rounds, int in, int out, int message) {
    char line[64];
    int pid = fork(), status;
    if (pid == 0) {
        close(out);
        peer(in);
    }
    close(in);
    for (int i = 0; i < rounds; i++) {
        int n = snprintf(line, sizeof line, "%d %u\n", i, work((unsigned)i));
        long done = message ? send(out, line, (size_t)n, 0) : write(out, line, (size_t)n);
        if (done != n)
            abort();
    }
    close(out);
    waitpid(pid, &status, 0);
    printf("status %d\n", status);
}

static void pipes(int rounds) {
    int ends[2];
    if (pipe(ends) == 0)
        send_all(rounds, ends[0], ends[1], 0);
}

static void sockets(int rounds) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
        send_all(rounds, ends[0], ends[1], 1);
}

/* Each connection is counted by the server. */
static void connections(int rounds) {
    struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "server"};
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(server, (struct sockaddr *)&at, sizeof at) != 0 || listen(server, 100) != 0)
        abort();
    int pid = fork();
    if (pid == 0) {
        long n = 0;
        char c = 0;
        while (c != 'q') {
            int fd = accept(server, NULL, NULL);
            n++;
            if (read(fd, &c, 1) != 1)
                c = 0;
            close(fd);
        }
        printf("%ld connections\n", n);
        fflush(stdout);
        _exit(0);
    }
    for (int i = 0; i < rounds; i++) {
        work((unsigned)i);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0 || write(fd, i + 1 < rounds ? "c" : "q", 1) != 1)
            abort();
        close(fd);
    }
    waitpid(pid, NULL, 0);
}

/* A page that is shared with no one but whoever copies the process, and one of a file. */
static void shared(int rounds) {
    int fd = open("page", O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0)
        abort();
    long *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long *file = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int i = 0; i < rounds; i++) {
        work((unsigned)i);
        __atomic_fetch_add(&page[i % 7], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&file[i % 5], 2, __ATOMIC_RELAXED);
        if (i % 100 == 0) {
            long *late = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            __atomic_fetch_add(&late[9], 1, __ATOMIC_RELAXED);
            msync(late, 4096, MS_SYNC);
            munmap(late, 4096);
        }
    }
    printf("%ld %ld %ld %ld\n", page[0], page[6], file[0], file[9]);
}

static volatile sig_atomic_t handled;
static void handler(int signal) { handled += signal == SIGUSR1; }

static void signals(int rounds) {
    signal(SIGUSR1, handler);
    long sent = 0;
    for (int i = 0; i < rounds; i++) {
        work((unsigned)i);
        if (i % 20 == 0)
            sent += raise(SIGUSR1) == 0;
        sigset_t set, old;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        if (sigprocmask(SIG_BLOCK, &set, &old) != 0 || sigismember(&old, SIGUSR2))
            abort();
        sigprocmask(SIG_SETMASK, &old, NULL);
    }
    printf("%ld %d\n", sent, (int)handled);
}

/* Signals to another process: it counts them. */
static void kills(int rounds) {
    int ends[2];
    char c;
    if (pipe(ends) != 0)
        abort();
    int pid = fork();
    if (pid == 0) {
        struct sigaction a = {.sa_handler = handler};
        sigaction(SIGUSR1, &a, NULL);
        sigset_t set;
        sigemptyset(&set);
        if (write(ends[1], "r", 1) != 1)
            abort();
        for (;;)
            if (handled >= 1000000)
                _exit(1);
    }
    if (read(ends[0], &c, 1) != 1)
        abort();
    long failed = 0;
    for (int i = 0; i < rounds; i++) {
        work((unsigned)i);
        failed += kill(pid, 0) != 0;
    }
    kill(pid, SIGKILL);
    int status;
    waitpid(pid, &status, 0);
    printf("%ld failed, ended by %d\n", failed, WTERMSIG(status));
}

static void children(int rounds) {
    long bad = 0, sum = 0;
    for (int i = 0; i < rounds; i++) {
        int status, pid = i % 3 ? fork() : vfork();
        if (pid == 0)
            _exit(i % 100);
        work((unsigned)i);
        bad += waitpid(-1, &status, 0) != pid;
        sum += WEXITSTATUS(status);
    }
    bad += wait(NULL) != -1 || errno != ECHILD;
    printf("%ld bad, %ld\n", bad, sum);
}

static void timers(int rounds) {
    long interrupted = 0;
    struct timespec little = {0, 20000};
    for (int i = 0; i < rounds; i++) {
        for (int n = 0; n < 16; n++)
            work((unsigned)(i + n));
        interrupted += nanosleep(&little, NULL) != 0;
        interrupted += poll(NULL, 0, i % 16 == 0) != 0;
        struct timeval t = {0, 10};
        interrupted += select(0, NULL, NULL, NULL, &t) != 0;
    }
    printf("%ld interrupted\n", interrupted);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long locked;
static int each;

static void *thread(void *n) {
    for (int i = 0; i < each; i++) {
        work((unsigned)i + (unsigned)(size_t)n);
        pthread_mutex_lock(&lock);
        locked += i % 3;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void threads(int rounds) {
    pthread_t t[8];
    each = rounds / 8;
    for (size_t i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, thread, (void *)i);
    for (size_t i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    printf("%ld\n", locked);
}

static void semaphores(int rounds) {
    sem_t *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(s, 1, 0);
    int pid = fork();
    if (pid == 0) {
        for (int i = 0; i < rounds; i++)
            while (sem_wait(s) != 0)
                ;
        _exit(7);
    }
    for (int i = 0; i < rounds; i++) {
        work((unsigned)i);
        sem_post(s);
    }
    int status, left;
    waitpid(pid, &status, 0);
    sem_getvalue(s, &left);
    printf("%d, %d left\n", WEXITSTATUS(status), left);
}

static void memory(int rounds) {
    unsigned s = 0;
    for (int i = 0; i < rounds; i++) {
        size_t n = (size_t)(i % 40 + 1) * 100000;
        char *p = malloc(n);
        memset(p, i, n);
        s += work((unsigned)p[n / 2]);
        p = realloc(p, 2 * n);
        s += (unsigned char)p[n - 1];
        free(p);
    }
    printf("%u\n", s);
}

static void asks(int rounds) {
    unsigned s = 0;
    for (int i = 0; i < rounds; i++) {
        struct stat st;
        struct timespec t;
        char here[4096];
        work((unsigned)i);
        s += (unsigned)(stat(".", &st) == 0) + (unsigned)(getcwd(here, sizeof here) != NULL) + (unsigned)(getppid() > 0);
        s += (unsigned)(clock_gettime(CLOCK_REALTIME, &t) == 0) + (unsigned)(isatty(0) == 0) + (getpid() == getpgid(0));
        s += (unsigned)(access("nothing", F_OK) != 0);
        umask(022);
    }
    printf("%u\n", s & ~1u);
}

static void standard(int rounds) {
    setvbuf(stdout, NULL, _IONBF, 0);
    char line[100];
    unsigned s = 0;
    for (int i = 0; i < rounds; i++) {
        printf("%d %u\n", i, work((unsigned)i));
        if (fgets(line, sizeof line, stdin) != NULL)
            s += sum(line, strlen(line));
    }
    printf("%u\n", s);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(int);
    } modes[] = {{"write", write_files}, {"read", read_files}, {"names", names}, {"pipes", pipes}, {"sockets", sockets},
                 {"connections", connections}, {"shared", shared}, {"signals", signals}, {"kills", kills},
                 {"children", children}, {"timers", timers}, {"threads", threads}, {"semaphores", semaphores},
                 {"memory", memory}, {"asks", asks}, {"standard", standard}};
    if (argc != 3)
        return 2;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, argv[1]) == 0) {
            modes[i].run(atoi(argv[2]));
            return 3;
        }
    return 2;
}
