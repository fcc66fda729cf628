// SPDX-License-Identifier: MIT OR Apache-2.0
/* Whose a file of a pool is: the process that counts in it, as long as it can.
 *
 * Calls: p3_process.c.
 * In signal handlers: none of it; in constructors and a forked child.
 *
 * A lock (flock) belongs to the open file, and a mapping keeps that open: closing descriptors, as daemons do, does
 * not end it, and the end of the process does, however it comes, once no thread can count any more. A child that shares
 * the mappings (vfork, a raw clone) keeps it as well. On file systems that map another file than they open
 * (overlayfs) descriptors alone hold it; so a file is only taken over when its process is gone, too, as far as
 * this one can see: process ids mean something in one name space alone. And it must be the same boot of the same system:
 * elsewhere counts may not have arrived yet (NFS), and locks may mean nothing. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Stays zero where it is not known. A forked child has its parent's. */
static void find_boot(uint8_t boot[16]) {
    static uint8_t known[16];
    static int is_known;
    char text[64];
    if (is_known) {
        memcpy(boot, known, sizeof known);
        return;
    }
    uint8_t found[16] = {0};
    ssize_t n = p3_read_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
    int digits = 0;
    for (ssize_t i = 0; i < n && digits < 32; i++)
        if (digit(text[i]) >= 0) {
            found[digits / 2] |= (uint8_t)(digit(text[i]) << (digits % 2 == 0 ? 4 : 0));
            digits++;
        }
    if (digits != 32)
        return;
    memcpy(known, found, sizeof found);
    memcpy(boot, found, sizeof found);
    is_known = 1;
}

struct p3_owner p3_owner_self(void) {
    struct p3_owner self = {.pid = (uint64_t)getpid()};
    struct p3_status status;
    struct stat space;
    if (!p3_process_status(0, &status) || fstatat(AT_FDCWD, "/proc/self/ns/pid", &space, 0) != 0)
        return self;
    self.start = status.start;
    self.space = space.st_ino;
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    if (random != NULL)
        memcpy(&self.image, random, sizeof self.image);
    find_boot(self.boot);
    return self;
}

/* Of one that waits to be reaped, nothing is left; a leader that ended before its threads looks alike. */
static int has_ended(const struct p3_status *status) {
    return (status->state == 'Z' || status->state == 'X') && status->threads <= 1;
}

int p3_owner_lives(const struct p3_raw_header *header, const struct p3_owner *self) {
    struct p3_status status;
    if (header->owner == 0 || header->owner_space != self->space)
        return 0; /* the lock alone tells */
    if (header->owner == self->pid && header->owner_start == self->start)
        return header->owner_image == self->image; /* another runtime of ours; or we, before exec */
    if (kill((pid_t)header->owner, 0) != 0 && errno == ESRCH)
        return 0;
    if (!p3_process_status(header->owner, &status))
        return 1;
    return status.start == header->owner_start && !has_ended(&status);
}

void p3_owner_write(struct p3_raw_header *header, const struct p3_owner *owner) {
    header->owner = owner->pid;
    header->owner_start = owner->start;
    header->owner_space = owner->space;
    header->owner_image = owner->image;
}

int p3_owner_lock(int fd) {
    int failed;
    do
        failed = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    while (failed == EINTR);
    return failed;
}
