// SPDX-License-Identifier: MIT OR Apache-2.0
/* Clocks and random numbers for copies that must run alike, to be preloaded: what the program learns of time depends
 * on nothing but how often it has asked, and how long it has slept; what it gets of the kernel's random numbers, on
 * how many it has had. A single-threaded program that runs the same way is told the same; threads share one clock
 * and one sequence, so what each is told depends on their order. A forked child goes on from where its parent is; a
 * program that is started begins anew.
 *
 * Nothing here reaches system calls made directly, the processor's counter and random numbers (rdtsc, rdrand), times
 * of files, or timers. The numbers are no secret: nothing that has to be one belongs in a process with this. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
/* Every question takes a millisecond: a loop that waits for a second asks a thousand times. */
#define STEP (SECOND / 1000)
/* 2001-09-09, and a machine that has been up for a quarter of an hour. */
#define EPOCH (UINT64_C(1000000000) * SECOND)
#define UPTIME (UINT64_C(900) * SECOND)

#ifndef P3_KEEP_TIME /* defined: random numbers alone */

/* Nanoseconds since the start. */
static _Atomic uint64_t elapsed;

static uint64_t advance(uint64_t by) {
    return atomic_fetch_add(&elapsed, by) + by;
}

static uint64_t zero_of(clockid_t clock) {
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI:
        return EPOCH;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
        return UPTIME;
    default: /* processor time */
        return 0;
    }
}

static struct timespec timespec_of(uint64_t ns) {
    return (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
}

static struct timeval timeval_of(uint64_t ns) {
    return (struct timeval){.tv_sec = (time_t)(ns / SECOND), .tv_usec = (suseconds_t)(ns % SECOND / 1000)};
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    /* The kernel knows which clocks there are. */
    if (syscall(SYS_clock_gettime, clock, now) != 0)
        return -1;
    *now = timespec_of(zero_of(clock) + advance(STEP));
    return 0;
}

int timespec_get(struct timespec *now, int base) {
    if (base != TIME_UTC)
        return 0;
    *now = timespec_of(EPOCH + advance(STEP));
    return base;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    *now = timeval_of(EPOCH + advance(STEP));
    return 0;
}

time_t time(time_t *out) {
    time_t now = (time_t)((EPOCH + advance(STEP)) / SECOND);
    if (out != NULL)
        *out = now;
    return now;
}

clock_t clock(void) {
    return (clock_t)(advance(STEP) / (SECOND / CLOCKS_PER_SEC));
}

clock_t times(struct tms *out) {
    clock_t now = (clock_t)(advance(STEP) / (SECOND / (uint64_t)sysconf(_SC_CLK_TCK)));
    if (out != NULL)
        *out = (struct tms){.tms_utime = now};
    return now;
}

/* glibc declares an enumeration where others have int. */
int getrusage(__typeof__(RUSAGE_SELF) who, struct rusage *usage) {
    if (syscall(SYS_getrusage, (int)who, usage) != 0)
        return -1;
    usage->ru_utime = timeval_of(advance(STEP));
    usage->ru_stime = timeval_of(0);
    return 0;
}

/* Sleeps take their time, for the sake of whoever is waited for. 0 or an errno. */
static int sleep_for(uint64_t ns, struct timespec *left) {
    struct timespec length = timespec_of(ns);
    advance(ns);
    return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &length, left) == 0 ? 0 : errno;
}

static int is_valid(const struct timespec *t) {
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < (long)SECOND;
}

static uint64_t ns_of(const struct timespec *t) {
    return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *left) {
    if (!is_valid(request))
        return EINVAL;
    if ((flags & TIMER_ABSTIME) == 0)
        return sleep_for(ns_of(request), left);
    uint64_t now = zero_of(clock) + advance(0), until = ns_of(request);
    return until <= now ? 0 : sleep_for(until - now, NULL);
}

int nanosleep(const struct timespec *request, struct timespec *left) {
    int error = clock_nanosleep(CLOCK_REALTIME, 0, request, left);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

int usleep(useconds_t us) {
    int error = sleep_for((uint64_t)us * 1000, NULL);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

unsigned sleep(unsigned seconds) {
    struct timespec left = {0};
    int before = errno, error = sleep_for(seconds * SECOND, &left);
    errno = before;
    return error == 0 ? 0 : (unsigned)left.tv_sec + (left.tv_nsec > 0);
}

#endif

/* splitmix64 (Steele, Lea & Flood 2014): the n-th number depends on n alone. */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* What a file of random numbers holds: nobody reads as much. */
#define FILE_SIZE ((size_t)1 << 20)

/* How many numbers were drawn. */
static _Atomic uint64_t drawn;

static uint64_t draw(void) {
    uint64_t z = (atomic_fetch_add(&drawn, 1) + 1) * GOLDEN;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void fill(void *buffer, size_t length) {
    unsigned char *at = buffer;
    while (length > 0) {
        uint64_t number = draw();
        size_t n = length < sizeof number ? length : sizeof number;
        memcpy(at, &number, n);
        at += n;
        length -= n;
    }
}

ssize_t getrandom(void *buffer, size_t length, unsigned flags) {
    (void)flags;
    fill(buffer, length);
    return (ssize_t)length;
}

int getentropy(void *buffer, size_t length) {
    if (length > 256) {
        errno = EIO;
        return -1;
    }
    fill(buffer, length);
    return 0;
}

uint32_t arc4random(void) {
    return (uint32_t)draw();
}

void arc4random_buf(void *buffer, size_t length) {
    fill(buffer, length);
}

/* The bias is below 2^-32. */
uint32_t arc4random_uniform(uint32_t bound) {
    return bound == 0 ? 0 : (uint32_t)(draw() % bound);
}

static int is_random(const char *path) {
    return path != NULL && (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0);
}

/* A file of random numbers; -1 with errno. */
static int random_file(int flags) {
    int fd = memfd_create("random", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
    if (fd < 0)
        return -1;
    void *bytes = ftruncate(fd, (off_t)FILE_SIZE) == 0
                      ? mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                      : MAP_FAILED;
    if (bytes == MAP_FAILED) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    fill(bytes, FILE_SIZE);
    munmap(bytes, FILE_SIZE);
    return fd;
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    if (is_random(path) && (flags & O_ACCMODE) == O_RDONLY)
        return random_file(flags);
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* The mode is there where a file may be made. */
#define MODE(flags, last)                                                                                              \
    mode_t mode = 0;                                                                                                   \
    if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) {                                                  \
        va_list more;                                                                                                  \
        va_start(more, last);                                                                                          \
        mode = va_arg(more, mode_t);                                                                                   \
        va_end(more);                                                                                                  \
    }

int open(const char *path, int flags, ...) {
    MODE(flags, flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE(flags, flags)
    return open_at(folder, path, flags, mode);
}

#ifdef __GLIBC__
int open64(const char *path, int flags, ...) {
    MODE(flags, flags)
    return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags, flags)
    return open_at(folder, path, flags | O_LARGEFILE, mode);
}
#endif

static FILE *open_stream(const char *name, const char *path, const char *mode) {
    if (is_random(path) && strchr(mode, 'r') != NULL && strchr(mode, '+') == NULL) {
        int fd = random_file(strchr(mode, 'e') != NULL ? O_CLOEXEC : 0);
        return fd < 0 ? NULL : fdopen(fd, "r");
    }
    FILE *(*real)(const char *, const char *);
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(&real, &found, sizeof real);
    return real(path, mode);
}

FILE *fopen(const char *restrict path, const char *restrict mode) {
    return open_stream("fopen", path, mode);
}

#ifdef __GLIBC__
FILE *fopen64(const char *restrict path, const char *restrict mode) {
    return open_stream("fopen64", path, mode);
}
#endif
