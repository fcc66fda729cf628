// SPDX-License-Identifier: MIT OR Apache-2.0
/* Files as a shadow sees them. An open file is its parent's too, and others notice when it stays open: whoever waits
 * for the end of a pipe, for a lock, or to run a program that was written. So a shadow lets go of all that is open, and
 * keeps references (O_PATH) that nobody notices. A regular file is opened again when it is read. Offsets are kept here,
 * and what is written goes nowhere. What the shadow opens itself is read as it is; what it makes is in memory.
 *
 * Calls: p3_shadow_system.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

enum { VECTORS = 1024, WRITTEN_WHOLE = 0x7ffff000 };

/* What a descriptor stands for: nothing that is known, what the shadow has let go, a file of the program's that it
 * opened again, one that it opened itself, one in memory. */
enum kind { UNKNOWN, LET_GO, SHARED, OWN, MADE };
static unsigned char kinds[P3_DESCRIPTORS];
/* Flags of the program's own ones, as fcntl tells them. */
static int32_t flags_of[P3_OFFSETS];
/* Of LET_GO and SHARED ones: which offset is theirs, plus one; 0: it is not known. */
static unsigned char offset_of[P3_DESCRIPTORS];
static int64_t offsets[P3_OFFSETS];

/* The name of what a descriptor of a process stands for. */
struct name {
    char text[64];
};

static size_t append(char *text, size_t at, const char *more) {
    size_t n = strlen(more);
    memcpy(text + at, more, n + 1);
    return at + n;
}

static size_t append_number(char *text, size_t at, long number) {
    char digits[24], *p = digits + sizeof digits - 1;
    *p = 0;
    do
        *--p = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return append(text, at, p);
}

/* `process`: 0: this one. */
static struct name name_of(long process, long fd) {
    struct name name;
    size_t at = append(name.text, 0, "/proc/");
    at = process == 0 ? append(name.text, at, "self") : append_number(name.text, at, process);
    append_number(name.text, append(name.text, at, "/fd/"), fd);
    return name;
}

/* Opens anew what `fd` of a process stands for, under the same number; 0 when it cannot be. */
static int open_again(long process, long fd, long flags) {
    struct name name = name_of(process, fd);
    long again = P3_CALL(SYS_openat, AT_FDCWD, name.text, flags | O_CLOEXEC, 0, 0, 0);
    if (again < 0 || again == fd)
        return again == fd;
    long moved = P3_CALL(SYS_dup3, again, fd, O_CLOEXEC, 0, 0, 0);
    P3_CALL(SYS_close, again, 0, 0, 0, 0, 0);
    return moved == fd;
}

/* Whether /proc tells of the processes that are known by these numbers here. */
static int is_proc_ours(void) {
    char own[24], seen[24];
    long n = P3_CALL(SYS_readlinkat, AT_FDCWD, "/proc/self", seen, sizeof seen, 0, 0);
    size_t size = append_number(own, 0, P3_CALL(SYS_getpid, 0, 0, 0, 0, 0, 0));
    return n == (long)size && memcmp(own, seen, size) == 0;
}

int p3_shadow_can_share(void) { return P3_CALL(SYS_close_range, ~0U, ~0U, 0, 0, 0, 0) == 0 && is_proc_ours(); }

/* What a process opens that must not be looked at (setuid) cannot be found by its name. */
int p3_shadow_can_be_seen(void) { return P3_CALL(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0, 0) == 1; }

/* From a copy of the table, all but the profile, which is closed a moment later than the program may close it. */
static void close_copies(const struct p3_shadow_task *task) {
    for (long fd = 0; fd < P3_OFFSETS; fd++)
        if (task->offsets[fd] != -EBADF && !open_again(0, fd, O_PATH))
            P3_CALL(SYS_close, fd, 0, 0, 0, 0, 0);
    long file = task->file;
    if (P3_CALL(SYS_close_range, P3_OFFSETS, file - 1, 0, 0, 0, 0) == 0) {
        P3_CALL(SYS_close_range, file + 1, ~0U, 0, 0, 0, 0);
        return;
    }
    for (long fd = P3_OFFSETS; fd < P3_DESCRIPTORS; fd++)
        if (fd != file)
            P3_CALL(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* Leaves a shared table for an empty one, so that nothing is open here at any time, and fetches references by their
 * names. What the program has closed meanwhile is not found any more. */
static void leave_table(const struct p3_shadow_task *task) {
    enum { UNSHARE = 1 << 1 };
    int left = P3_CALL(SYS_close_range, 0, ~0U, UNSHARE, 0, 0, 0) == 0;
    if (!left || !open_again(task->parent, task->file, O_RDWR))
        for (;;)
            P3_CALL(SYS_exit_group, 0, 0, 0, 0, 0, 0);
    for (long fd = 0; fd < P3_OFFSETS; fd++)
        if (task->offsets[fd] != -EBADF)
            open_again(task->parent, fd, O_PATH);
}

void p3_shadow_let_go(const struct p3_shadow_task *task) {
    if (task->shares_table) {
        leave_table(task);
        return;
    }
    close_copies(task);
    /* A lock of the profile belongs to whoever opened it: to each shadow by itself. */
    open_again(0, task->file, O_RDWR);
}

void p3_shadow_files_start(const struct p3_shadow_task *task) {
    memset(kinds, LET_GO, sizeof kinds);
    memset(offset_of, 0, sizeof offset_of);
    memcpy(offsets, task->offsets, sizeof offsets);
    memcpy(flags_of, task->flags, sizeof flags_of);
    for (int fd = 0; fd < P3_OFFSETS; fd++) {
        offset_of[fd] = offsets[fd] >= 0 ? (unsigned char)(fd + 1) : 0;
        if (offsets[fd] == -EBADF)
            kinds[fd] = UNKNOWN;
    }
}

static int is_known(long fd) { return fd >= 0 && fd < P3_DESCRIPTORS; }
static int is_own(long fd) { return is_known(fd) && (kinds[fd] == OWN || kinds[fd] == MADE); }
int p3_shadow_is_let_go(long fd) { return is_known(fd) && kinds[fd] == LET_GO; }
static int64_t *offset(long fd) { return is_known(fd) && offset_of[fd] != 0 ? &offsets[offset_of[fd] - 1] : NULL; }

static int stat_of(long fd, struct stat *s) { return P3_CALL(SYS_fstat, fd, s, 0, 0, 0, 0) == 0; }

/* /dev/null, /dev/zero, /dev/random, /dev/urandom: who reads takes nothing away. */
static int is_harmless(const struct stat *s) {
    unsigned n = minor(s->st_rdev);
    return S_ISCHR(s->st_mode) && major(s->st_rdev) == 1 && (n == 3 || n == 5 || n == 8 || n == 9);
}

static uint64_t total(const struct iovec *parts, long n) {
    uint64_t sum = 0;
    for (long i = 0; i < n; i++)
        sum += parts[i].iov_len;
    return sum < WRITTEN_WHOLE ? sum : WRITTEN_WHOLE;
}

/* Opens what the shadow has let go for reading, if nobody notices that; 0: it cannot be read. */
static int can_read(long fd, const struct stat *s) {
    if (!p3_shadow_is_let_go(fd))
        return 1;
    int may = fd < P3_OFFSETS && (flags_of[fd] & O_ACCMODE) != O_WRONLY && (S_ISREG(s->st_mode) || is_harmless(s));
    if (!may || !open_again(0, fd, O_RDONLY))
        return 0;
    kinds[fd] = SHARED;
    return 1;
}

/* Reads at the shadow's own offset; 0: that cannot be done. */
static int read_file(long fd, const struct iovec *parts, long n, long *result) {
    struct stat s;
    int64_t *at = offset(fd);
    if (!stat_of(fd, &s) || n < 0 || n > VECTORS || !can_read(fd, &s))
        return 0;
    if (is_own(fd) || is_harmless(&s))
        *result = P3_CALL(SYS_readv, fd, parts, n, 0, 0, 0);
    else if (S_ISREG(s.st_mode) && at != NULL)
        *result = P3_CALL(SYS_preadv, fd, parts, n, *at, 0, 0);
    else
        return 0;
    if (*result > 0 && !is_own(fd) && at != NULL)
        *at += *result;
    return 1;
}

static int write_file(long fd, const struct iovec *parts, long n, long *result) {
    struct stat s;
    int64_t *at = offset(fd);
    /* The program may have closed a descriptor before the shadow had a table of its own: it was open when the shadow
     * was forked. */
    if (n < 0 || n > VECTORS || !(p3_shadow_is_let_go(fd) || stat_of(fd, &s)))
        return 0;
    if (is_known(fd) && kinds[fd] == MADE) {
        *result = P3_CALL(SYS_writev, fd, parts, n, 0, 0, 0);
        return 1;
    }
    *result = (long)total(parts, n);
    if (at != NULL)
        *at += *result;
    return 1;
}

static int seek(long fd, int64_t by, long whence, long *result) {
    struct stat s;
    int64_t *at = offset(fd);
    if (is_own(fd)) {
        *result = P3_CALL(SYS_lseek, fd, by, whence, 0, 0, 0);
        return 1;
    }
    if (!stat_of(fd, &s))
        return 0;
    if (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode)) {
        *result = -ESPIPE;
        return 1;
    }
    if (at == NULL || !S_ISREG(s.st_mode) || whence < SEEK_SET || whence > SEEK_END)
        return 0;
    int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? *at : s.st_size;
    *result = from + by < 0 ? -EINVAL : from + by;
    if (*result >= 0)
        *at = *result;
    return 1;
}

static void learn(long fd, enum kind kind) {
    if (is_known(fd)) {
        kinds[fd] = (unsigned char)kind;
        offset_of[fd] = 0;
    }
}

/* Learns what a new descriptor stands for; 0 where its number may be another one's in the program: those above are not
 * known. */
static int is_new(long fd, enum kind kind) {
    if (fd >= P3_OFFSETS)
        return 0;
    learn(fd, kind);
    return 1;
}

/* A file of the shadow's own at the number that the program expects. */
static int make(long *result) {
    *result = P3_CALL(SYS_memfd_create, "p3", 0, 0, 0, 0, 0);
    return is_new(*result, MADE);
}

/* What is there is looked at before it is opened: a pipe's other end, or a device, would notice. */
static int open_file(long folder, const char *name, long flags, long *result) {
    struct stat s;
    long found = P3_CALL(SYS_newfstatat, folder, name, &s, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0, 0, 0);
    if ((flags & O_TMPFILE) == O_TMPFILE)
        found = -ENOENT;
    if (found == -ENOENT && flags & O_CREAT)
        return make(result);
    if (found < 0) {
        *result = found;
        return 1;
    }
    if (flags & O_CREAT && flags & O_EXCL) {
        *result = -EEXIST;
        return 1;
    }
    if (!S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode) && !is_harmless(&s))
        return 0;
    if (flags & O_TRUNC && S_ISREG(s.st_mode))
        return make(result);
    enum { CHANGES = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND };
    *result = P3_CALL(SYS_openat, folder, name, flags & ~(long)CHANGES, 0, 0, 0);
    return is_new(*result, OWN);
}

static int copy_descriptor(long from, long to) {
    if (to >= P3_OFFSETS)
        return 0;
    if (is_known(from) && is_known(to)) {
        kinds[to] = kinds[from];
        offset_of[to] = offset_of[from];
        flags_of[to] = from < P3_OFFSETS ? flags_of[from] : 0;
    }
    return 1;
}

static int control(const long *call, long *result, uint32_t *treatment) {
    long fd = call[1];
    switch (call[2]) {
    case F_GETFL:
        if (fd >= 0 && fd < P3_OFFSETS && (kinds[fd] == LET_GO || kinds[fd] == SHARED)) {
            *result = flags_of[fd];
            return 1;
        }
        /* fall through */
    case F_GETFD:
    case F_SETFD:
        *treatment = P3_CALL_ALLOWED;
        *result = P3_CALL(SYS_fcntl, fd, call[2], call[3], 0, 0, 0);
        return 1;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        *result = P3_CALL(SYS_fcntl, fd, call[2], call[3], 0, 0, 0);
        return copy_descriptor(fd, *result);
    case F_SETFL:
    case F_SETLK:
    case F_OFD_SETLK:
        *treatment = P3_CALL_ASSUMED;
        *result = 0;
        return 1;
    default:
        return 0;
    }
}

static int ask_device(const long *call, long *result, uint32_t *treatment) {
    struct stat s;
    if (call[2] != TCGETS && call[2] != FIONREAD && call[2] != TIOCGWINSZ && call[2] != FIOCLEX)
        return 0;
    /* Whether something that was let go is a terminal can be told without it; which one it is cannot. */
    int is_known_as = p3_shadow_is_let_go(call[1]) && stat_of(call[1], &s);
    if (is_known_as && call[2] != FIONREAD && (call[2] == FIOCLEX || !S_ISCHR(s.st_mode) || is_harmless(&s))) {
        *result = call[2] == FIOCLEX ? 0 : -ENOTTY;
        return 1;
    }
    if (is_known_as && S_ISREG(s.st_mode) && !can_read(call[1], &s))
        return 0;
    *treatment = P3_CALL_ALLOWED;
    *result = P3_CALL(SYS_ioctl, call[1], call[2], call[3], 0, 0, 0);
    return 1;
}

/* A file that is opened here is no one else's: its offset may move. */
static int list_folder(const long *call, long *result) {
    if (!is_own(call[1]))
        return 0;
    *result = P3_CALL(call[0], call[1], call[2], call[3], 0, 0, 0);
    return 1;
}

static int change_size(const long *call, long *result, uint32_t *treatment) {
    if (is_known(call[1]) && kinds[call[1]] == MADE) {
        *result = P3_CALL(call[0], call[1], call[2], call[3], call[4], 0, 0);
        return 1;
    }
    *treatment = P3_CALL_ASSUMED;
    *result = 0;
    return 1;
}

static int read_at(const long *call, long *result) {
    struct stat s;
    if (!stat_of(call[1], &s) || !S_ISREG(s.st_mode) || !can_read(call[1], &s))
        return 0;
    *result = P3_CALL(call[0], call[1], call[2], call[3], call[4], call[5], call[6]);
    return 1;
}

static int write_at(const long *call, long *result, uint32_t *treatment) {
    if (is_known(call[1]) && kinds[call[1]] == MADE) {
        *result = P3_CALL(call[0], call[1], call[2], call[3], call[4], call[5], call[6]);
        return 1;
    }
    *treatment = P3_CALL_ASSUMED;
    int single = call[0] == SYS_pwrite64;
    *result = single ? call[3] : (long)total((const struct iovec *)call[2], call[3]);
    return 1;
}

/* A file of the program's is mapped as it is read. */
int p3_shadow_can_map(long fd) {
    struct stat s;
    return fd < 0 || (stat_of(fd, &s) && can_read(fd, &s));
}

int p3_shadow_file_call(const long *call, long *result, uint32_t *treatment) {
    struct iovec part = {(void *)call[2], (size_t)call[3]};
    *treatment = P3_CALL_HANDLED;
    switch (call[0]) {
    case SYS_read:
        return read_file(call[1], &part, 1, result);
    case SYS_readv:
        return read_file(call[1], (const struct iovec *)call[2], call[3], result);
    case SYS_pread64:
    case SYS_preadv:
        return read_at(call, result);
    case SYS_write:
    case SYS_writev:
        *treatment = is_known(call[1]) && kinds[call[1]] == MADE ? P3_CALL_HANDLED : P3_CALL_ASSUMED;
        return call[0] == SYS_write ? write_file(call[1], &part, 1, result)
                                    : write_file(call[1], (const struct iovec *)call[2], call[3], result);
    case SYS_pwrite64:
    case SYS_pwritev:
        return write_at(call, result, treatment);
    case SYS_lseek:
        return seek(call[1], call[2], call[3], result);
    case SYS_open:
        return open_file(AT_FDCWD, (const char *)call[1], call[2], result);
    case SYS_openat:
        return open_file(call[1], (const char *)call[2], call[3], result);
    case SYS_creat:
        return open_file(AT_FDCWD, (const char *)call[1], O_CREAT | O_TRUNC | O_WRONLY, result);
    case SYS_close:
        *result = P3_CALL(SYS_close, call[1], 0, 0, 0, 0, 0);
        learn(call[1], UNKNOWN);
        return 1;
    case SYS_dup:
        *result = P3_CALL(SYS_dup, call[1], 0, 0, 0, 0, 0);
        return copy_descriptor(call[1], *result);
    case SYS_dup2:
    case SYS_dup3:
        *result = P3_CALL(call[0], call[1], call[2], call[3], 0, 0, 0);
        return copy_descriptor(call[1], *result);
    case SYS_fcntl:
        return control(call, result, treatment);
    case SYS_ioctl:
        return ask_device(call, result, treatment);
    case SYS_getdents64:
        return list_folder(call, result);
    case SYS_ftruncate:
    case SYS_fallocate:
        return change_size(call, result, treatment);
    default:
        return 0;
    }
}

#else
typedef int p3_no_shadows;
#endif
