// SPDX-License-Identifier: MIT OR Apache-2.0
/* Where the raw profile goes. Everything that the program may change is read once, at the start.
 *
 * Calls: p3_process.c, p3_quiet.c.
 * In signal handlers: p3_place. The environment is read in constructors alone. */
#define _GNU_SOURCE
#include "p3_internal.h"
#include "p3_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static const char DEFAULT_PATTERN[] = "p3-%k-%p.p3raw";

static char pattern[P3_PATH_MAX];
static int pooled;
static uint64_t reserve_wanted, seed_wanted, threads_wanted, threads_reserved;
static int seeded;
static char on_signal[16], signal_name[16];
static char test[100];
/* The root folder as it was at the start: a way out of chroot(). */
static struct {
    int fd;
    dev_t dev;
    ino_t ino;
    int held; /* nobody changes it for now: whether it is another one is asked once */
    int known, changed;
} root = {.fd = -1};

/* What is too long is nothing that anyone knows. */
static void keep(char out[16], const char *text) {
    if (text != NULL && p3_append(out, 16, 0, text) == SIZE_MAX)
        p3_append(out, 16, 0, "?");
}

/* What P3_TEST says, as a part of a file's name: anything but letters, digits and "._-" as "%2f"; "~" stands for the rest of what is too long. */
static void keep_test(const char *text) {
    size_t at = 0;
    for (; text != NULL && *text != 0; text++) {
        unsigned char c = (unsigned char)*text;
        int letter = (c | 32) >= 'a' && (c | 32) <= 'z', digit = c >= '0' && c <= '9';
        if (at + sizeof "%2f~" > sizeof test) {
            p3_append(test, sizeof test, at, "~");
            return;
        }
        char one[2] = {(char)c, 0};
        if (letter || digit || c == '.' || c == '_' || c == '-') {
            at = p3_append(test, sizeof test, at, one);
        } else {
            at = p3_append(test, sizeof test, at, "%");
            at = p3_append_number(test, sizeof test, at, c >> 4, 16);
            at = p3_append_number(test, sizeof test, at, c & 15, 16);
        }
    }
}

/* A program with more rights than its caller writes where it would without us. */
static const char *environment(const char *name) {
    return getauxval(AT_SECURE) != 0 ? NULL : getenv(name);
}

int p3_move_up(int fd) {
    enum { HIGH = 200 };
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
    if (fd >= 0)
        close(fd);
    return high;
}

static void remember_root(void) {
    struct stat s;
    root.fd = p3_move_up(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (root.fd >= 0 && fstat(root.fd, &s) == 0) {
        root.dev = s.st_dev;
        root.ino = s.st_ino;
    }
}

/* The length of "%m", or of "%4m" as in LLVM, at `p`; 0: it is something else. */
static size_t pool_field(const char *p) {
    if (*p != '%')
        return 0;
    size_t digit = p[1] >= '1' && p[1] <= '9';
    return p[1 + digit] == 'm' ? 2 + digit : 0;
}

static int has_pool_field(const char *p) {
    for (; *p != 0; p++) {
        if (pool_field(p) != 0)
            return 1;
        if (*p == '%' && p[1] != 0)
            p++;
    }
    return 0;
}

void p3_name_start(void) {
    const char *text = environment("P3_PROFILE_FILE"), *reserve = environment("P3_PROFILE_RESERVE");
    const char *seed = environment("P3_SEED"), *wish = environment("P3_SIGNAL"), *way = environment("P3_ON_SIGNAL");
    if (text == NULL || *text == 0)
        text = p3_profile_file != NULL ? p3_profile_file : DEFAULT_PATTERN;
    /* An absolute path that is too long is too long as it stands, and is said to be when it is used. */
    if (p3_append(pattern, sizeof pattern, 0, text) == SIZE_MAX)
        memset(pattern, '/', sizeof pattern - 1);
    pooled = has_pool_field(pattern);
    reserve_wanted = reserve == NULL ? 0 : (strtoull(reserve, NULL, 10) & 0xfffff) << 20;
    keep_test(environment("P3_TEST"));
    keep(signal_name, wish);
    keep(on_signal, way);
    const char *most = environment("P3_THREADS_MAX"), *made = environment("P3_THREADS_RESERVE");
    threads_wanted = most == NULL || *most == 0 ? 4096 : strtoull(most, NULL, 10);
    threads_reserved = made == NULL ? 0 : strtoull(made, NULL, 10);
    seeded = seed != NULL && *seed != 0;
    seed_wanted = seeded ? strtoull(seed, NULL, 0) : 0;
    remember_root();
}

int p3_name_pooled(void) { return pooled; }

uint64_t p3_reserve_wanted(void) { return reserve_wanted; }

uint64_t p3_threads_wanted(void) { return threads_wanted; }

uint64_t p3_threads_reserve(void) { return threads_reserved; }

const char *p3_signal_wanted(void) { return *signal_name != 0 ? signal_name : NULL; }

const char *p3_on_signal_wanted(void) { return *on_signal != 0 ? on_signal : NULL; }

int p3_seed_wanted(uint64_t *seed) {
    if (seeded)
        *seed = seed_wanted;
    return seeded;
}

/* Programs close descriptors that are not theirs, and the number may be another folder by now. */
static int root_is_ours(void) {
    struct stat s;
    return root.fd >= 0 && fstat(root.fd, &s) == 0 && s.st_dev == root.dev && s.st_ino == root.ino;
}

/* An emulator may take "/" for another folder than the one below which it looks paths up. */
static int root_has_changed(void) {
    struct stat s;
    if (root.held && root.known)
        return root.changed;
    root.changed = fstatat(AT_FDCWD, "/", &s, 0) != 0 || s.st_dev != root.dev || s.st_ino != root.ino;
    root.known = 1;
    return root.changed;
}

void p3_name_hold(int held) {
    root.held = held;
    root.known = 0;
}

void p3_name_end(void) {
    if (root_is_ours())
        close(root.fd);
    root.fd = -1;
}

struct p3_place p3_place(const char *path) {
    struct p3_place place = {AT_FDCWD, path};
    if (*path == '/' && path[1] != 0 && root_has_changed() && root_is_ours())
        place = (struct p3_place){root.fd, path + strspn(path, "/")};
    return place;
}

/* As in manifest.json. */
static size_t append_program(char *out, size_t size, size_t at, const struct p3_module *module) {
    if (*test != 0) /* a test has files of its own */
        at = p3_append(out, size, p3_append(out, size, p3_append(out, size, at, "@"), test), "@");
    for (size_t i = 0; i < sizeof module->program; i++) {
        at = p3_append_number(out, size, at, module->program[i] >> 4, 16);
        at = p3_append_number(out, size, at, module->program[i] & 15, 16);
    }
    return at;
}

static size_t append_field(char *out, size_t size, size_t at, char field, const struct p3_module *module) {
    char other[3] = {'%', field, 0};
    switch (field) {
    case 'p':
        return p3_append_number(out, size, at, (uint64_t)getpid(), 10);
    case 'k':
        return p3_append_number(out, size, at, module->copy, 10);
    case 'h':
        return p3_append(out, size, at, *p3_process()->host != 0 ? p3_process()->host : "localhost");
    case 'm':
        return append_program(out, size, at, module);
    case '%':
        return p3_append(out, size, at, "%");
    default: /* not ours: as it stands */
        return p3_append(out, size, at, other);
    }
}

static size_t expand(char *out, size_t size, size_t at, const struct p3_module *module) {
    for (const char *p = pattern; *p != 0; p++) {
        char one[2] = {*p, 0};
        size_t pool = pool_field(p);
        if (pool != 0)
            p += pool - 2; /* the number says nothing: as many files as processes run at once */
        at = pool != 0 || (*p == '%' && p[1] != 0)
                 ? append_field(out, size, at, *++p, module)
                 : p3_append(out, size, at, one);
    }
    return at;
}

/* Puts "-N" before the extension. */
static size_t number(char *out, size_t size, size_t at, int n) {
    enum { LONGEST = 200 };
    char extension[LONGEST + 1] = "";
    if (n == 0 || at == SIZE_MAX)
        return at;
    char *slash = strrchr(out, '/'), *dot = strrchr(out, '.');
    if (dot != NULL && (slash == NULL || dot > slash) && out + at - dot <= LONGEST) {
        memcpy(extension, dot, (size_t)(out + at - dot) + 1);
        at = (size_t)(dot - out);
    }
    at = p3_append_number(out, size, p3_append(out, size, at, "-"), (uint64_t)n, 10);
    return p3_append(out, size, at, extension);
}

int p3_file_name(char *out, size_t size, const struct p3_module *module, int n) {
    const char *folder = p3_process()->folder;
    out[0] = 0;
    size_t at = *pattern == '/' || *folder == 0
                    ? 0
                    : p3_append(out, size, p3_append(out, size, 0, folder), "/");
    at = expand(out, size, at, module);
    if (number(out, size, at, n) == SIZE_MAX) {
        p3_complain("P3_PROFILE_FILE", "file name too long", 0);
        return P3_SAID;
    }
    return 0;
}

/* Whether a folder lies in the one in which the process began. */
static int is_inside(const char *path) {
    const char *folder = p3_process()->folder;
    size_t n = strlen(folder);
    if (strstr(path, "/../") != NULL || n == 0)
        return 0;
    return n == 1 || (strncmp(path, folder, n) == 0 && path[n] == '/');
}

/* The program's umask may keep a new folder from its own user. */
static void give_to_owner(struct p3_place place) {
    struct stat s;
    if (fstatat(place.folder, place.name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(s.st_mode) && (s.st_mode & 0700) != 0700)
        fchmodat(place.folder, place.name, (s.st_mode & 07777) | 0700, 0);
}

static int make_folder(const char *path) {
    struct p3_place place = p3_place(path);
    if (mkdirat(place.folder, place.name, 0777) != 0) {
        if (errno == EEXIST || errno == EISDIR)
            return 0;
        p3_complain(path, "cannot make this folder", errno);
        return P3_SAID;
    }
    give_to_owner(place);
    if (geteuid() == 0 && !is_inside(path))
        p3_complain(path, "made this folder, as root and outside of the working folder", 0);
    return 0;
}

int p3_make_folders(char *path) {
    for (char *p = path + 1; *p != 0; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        int failed = make_folder(path);
        *p = '/';
        if (failed)
            return failed;
    }
    return 0;
}
