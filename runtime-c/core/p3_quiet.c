// SPDX-License-Identifier: MIT OR Apache-2.0
/* What the program must not notice: errno, cancellation, and messages that are async-signal-safe.
 *
 * Calls: nothing.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Most of what the kernel does for us is a cancellation point: a thread would end in the middle. */
struct p3_quiet p3_enter(void) {
    struct p3_quiet before = {.error = errno, .cancel = PTHREAD_CANCEL_ENABLE};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.cancel);
    return before;
}

void p3_leave(struct p3_quiet before) {
    int unused;
    pthread_setcancelstate(before.cancel, &unused);
    errno = before.error;
}

size_t p3_append(char *out, size_t size, size_t at, const char *text) {
    size_t n = strlen(text);
    if (at == SIZE_MAX || n >= size - at)
        return SIZE_MAX;
    memcpy(out + at, text, n + 1);
    return at + n;
}

size_t p3_append_number(char *out, size_t size, size_t at, uint64_t number, unsigned base) {
    char text[32], *p = text + sizeof text - 1;
    *p = 0;
    do
        *--p = "0123456789abcdef"[number % base];
    while ((number /= base) > 0);
    return p3_append(out, size, at, p);
}

/* strerror() may allocate, and takes locks. */
static const char *meaning(int error) {
    switch (error) {
    case EAGAIN: return "Resource temporarily unavailable";
    case EACCES: return "Permission denied";
    case EBADF: return "Bad file descriptor";
    case EDQUOT: return "Disk quota exceeded";
    case EEXIST: return "File exists";
    case EFBIG: return "File too large";
    case EINVAL: return "Invalid argument";
    case EIO: return "Input/output error";
    case EISDIR: return "Is a directory";
    case ELOOP: return "Too many levels of symbolic links";
    case EMFILE: return "Too many open files";
    case ENAMETOOLONG: return "File name too long";
    case ENFILE: return "Too many open files in system";
    case ENODEV: return "No such device";
    case ENOENT: return "No such file or directory";
    case ENOMEM: return "Cannot allocate memory";
    case ENOSPC: return "No space left on device";
    case ENOTDIR: return "Not a directory";
    case EOPNOTSUPP: return "Operation not supported";
    case EPERM: return "Operation not permitted";
    case EROFS: return "Read-only file system";
    default: return NULL;
    }
}

static size_t append_error(char *line, size_t size, size_t at, int error) {
    const char *text = meaning(error);
    at = p3_append(line, size, at, ": ");
    if (text != NULL)
        return p3_append(line, size, at, text);
    return p3_append_number(line, size, p3_append(line, size, at, "error "), (uint64_t)error, 10);
}

/* The signal of a write that failed so; 0: none. */
static int raised(int error) { return error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0; }

/* A pipe that no one reads, a file that has reached RLIMIT_FSIZE and a terminal that another job has would end or stop
 * the program. */
static void write_unnoticed(const char *text, size_t n) {
    sigset_t signals, before, pending;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    sigaddset(&signals, SIGTTOU);
    if (sigpending(&pending) != 0 || pthread_sigmask(SIG_BLOCK, &signals, &before) != 0)
        return;
    int signal = write(2, text, n) < 0 ? raised(errno) : 0;
    if (signal != 0 && sigismember(&pending, signal) == 0) {
        sigemptyset(&signals);
        sigaddset(&signals, signal);
        sigtimedwait(&signals, NULL, &(struct timespec){0, 0});
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void p3_complain(const char *subject, const char *problem, int error) {
    char line[P3_PATH_MAX + 256];
    size_t at = p3_append(line, sizeof line, p3_append(line, sizeof line, 0, "p3: "), subject);
    at = p3_append(line, sizeof line, p3_append(line, sizeof line, at, ": "), problem);
    if (error != 0)
        at = append_error(line, sizeof line, at, error);
    at = p3_append(line, sizeof line, at, "\n");
    if (at != SIZE_MAX)
        write_unnoticed(line, at);
}
