// SPDX-License-Identifier: MIT OR Apache-2.0
/* Who counts: the process's arguments, folder and host, and an id that no other profile has.
 *
 * Calls: p3_quiet.c.
 * In signal handlers: none of it; in constructors, a forked child and at exit. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static struct p3_process process;
static int known, identified;

/* Where it stands now. */
static const char *append(const char *text, size_t n) {
    const char *at = process.text + process.text_size;
    memcpy(process.text + process.text_size, text, n);
    process.text_size += (uint32_t)n;
    process.text[process.text_size++] = 0;
    return at;
}

ssize_t p3_read_file(const char *path, char *out, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, size);
    if (fd >= 0)
        close(fd);
    return n;
}

/* Whether the numbers in /proc are those that this process sees: one that was given a name space of process ids may still have
 * the /proc of another one, where its own numbers are other processes'. Listed are our ids from that one's down to ours. */
static int are_our_ids(void) {
    char text[4096] = "";
    if (p3_read_file("/proc/self/status", text, sizeof text - 1) <= 0)
        return 0;
    const char *ids = strstr(text, "\nNSpid:\t");
    return ids != NULL && ids[8 + strspn(ids + 8, "0123456789")] == '\n';
}

int p3_process_status(uint64_t pid, struct p3_status *out) {
    char path[64] = "/proc/self/stat", text[1024] = "", *p;
    if (pid != 0 && !are_our_ids())
        return 0;
    if (pid != 0)
        p3_append(path, sizeof path, p3_append_number(path, sizeof path, p3_append(path, sizeof path, 0, "/proc/"), pid, 10),
                  "/stat");
    /* The name, in parentheses, may hold anything. */
    if (p3_read_file(path, text, sizeof text - 1) <= 0 || (p = strrchr(text, ')')) == NULL || p[1] == 0)
        return 0;
    out->state = p[2];
    out->threads = out->start = 0;
    for (int field = 1; (p = strchr(p + 1, ' ')) != NULL; field++) {
        if (field == 18)
            out->threads = strtoull(p + 1, NULL, 10);
        if (field == 20)
            out->start = strtoull(p + 1, NULL, 10);
    }
    return 1;
}

/* The kernel's list has a zero behind each argument, as ours; one byte more tells whether it was cut. */
static void find_arguments(void) {
    ssize_t n = p3_read_file("/proc/self/cmdline", process.text, P3_RAW_ARGUMENTS_MAX + 1);
    if (n <= 0) {
        process.process |= P3_RAW_ARGUMENTS_UNKNOWN;
        return;
    }
    if (n > (ssize_t)P3_RAW_ARGUMENTS_MAX) {
        process.process |= P3_RAW_ARGUMENTS_CUT;
        n = P3_RAW_ARGUMENTS_MAX;
    }
    if (process.text[n - 1] != 0)
        process.text[n++] = 0;
    for (ssize_t i = 0; i < n; i++)
        process.arguments += process.text[i] == 0;
    process.text_size = (uint32_t)n;
}

static void find_folder(void) {
    char folder[P3_PATH_MAX];
    if (getcwd(folder, sizeof folder) == NULL)
        folder[0] = 0; /* it was removed */
    process.folder = append(folder, strlen(folder));
}

static void find_host(void) {
    struct utsname name;
    if (uname(&name) != 0)
        name.nodename[0] = 0;
    process.host = append(name.nodename, strnlen(name.nodename, sizeof name.nodename));
}

/* The system call: its wrapper is not safe in a forked child everywhere. */
static int random_bytes(void *out, long size) {
#ifdef SYS_getrandom
    enum { NONBLOCK = 1 };
    return syscall(SYS_getrandom, out, size, NONBLOCK) == size;
#else
    (void)out, (void)size;
    return 0;
#endif
}

static void identify(void) {
    if (random_bytes(process.unique, sizeof process.unique))
        return;
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    /* Several runtimes in one process differ in where they are. */
    uint64_t parts[2] = {(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
                         (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)&process};
    memcpy(process.unique, parts, sizeof parts);
}

const struct p3_process *p3_process(void) {
    if (!known) {
        find_arguments();
        find_folder();
        find_host();
        known = 1;
    }
    if (!identified)
        identify();
    identified = 1;
    return &process;
}

void p3_process_forked(void) { identified = 0; }
