/* The profile that holds every count from the moment in which it is counted, and its name.
 *
 * Calls: p3_file.c, p3_name.c, p3_quiet.c.
 * In signal handlers: p3_live_file, p3_live_lost. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static struct p3_file live = {.fd = -1};
static char path[P3_PATH_MAX];
static int lost;
static int child;

struct p3_file *p3_live_file(void) { return live.header != NULL ? &live : NULL; }

void p3_live_lost(void) {
    if (live.header != NULL)
        __atomic_fetch_or(&live.header->flags, P3_RAW_LOST, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&lost, 1, __ATOMIC_RELAXED) != 0)
        return;
    struct p3_quiet before = p3_enter();
    p3_complain("profile", "out of memory, counts are lost", 0);
    p3_leave(before);
}

int p3_live_has_lost(void) { return __atomic_load_n(&lost, __ATOMIC_RELAXED); }

/* Sets `path` to the n-th name, and asks whether it is taken: 1, 0, or P3_SAID. */
static int taken(const struct p3_module *module, int n) {
    int failed = p3_file_name(path, sizeof path, module->copy, n);
    return failed ? failed : p3_file_taken(path);
}

/* Sets `path` to a free name from the n-th on: its number, or P3_SAID. Few steps, even where thousands are taken. */
static int find_name(const struct p3_module *module, int n) {
    int before = n - 1, answer;
    for (int step = 1; (answer = taken(module, n)) > 0 && n < 1 << 28; step *= 2) {
        before = n;
        n += step;
    }
    while (answer == 0 && n - before > 1) {
        int middle = before + (n - before) / 2;
        if (taken(module, middle) > 0)
            before = middle;
        else
            n = middle;
    }
    return answer < 0 || taken(module, n) < 0 ? P3_SAID : n;
}

/* No profile goes to /dev/null, and none may go beside another device, or a folder. */
static int check_pattern(const struct p3_module *module) {
    struct stat s;
    int failed = p3_file_name(path, sizeof path, module->copy, 0);
    if (failed)
        return failed;
    struct p3_place place = p3_place(path);
    if (fstatat(place.folder, place.name, &s, 0) != 0 || S_ISREG(s.st_mode))
        return 0;
    if (S_ISCHR(s.st_mode) && s.st_rdev == makedev(1, 3))
        return P3_OFF;
    p3_complain(path, "no profile can be written there: this is not a file", 0);
    return P3_SAID;
}

int p3_live_create(struct p3_file *file, const struct p3_module *module) {
    enum { TRIES = 1000 }; /* others may be looking for names as well */
    int failed = check_pattern(module);
    if (failed)
        return failed;
    for (int i = 0, n = 0; i < TRIES; i++) {
        n = find_name(module, n);
        if (n < 0)
            return n;
        failed = p3_file_create(file, path, module);
        if (!failed && child)
            file->header->flags = P3_RAW_CHILD;
        if (failed != EEXIST)
            return failed;
    }
    return EEXIST;
}

static int go_live(struct p3_module *m) {
    int fd = p3_file_open(&live);
    if (fd < 0)
        return EBADF;
    int failed = m->page != live.page ? EINVAL : p3_file_module_live(&live, fd, m);
    close(fd);
    return failed;
}

static void fall_back(int failed) {
    if (failed > 0)
        p3_complain(path, "counts are kept in memory until exit", failed);
}

void p3_live_start(const struct p3_module *first) { fall_back(p3_live_create(&live, first)); }

void p3_live_module(struct p3_module *m) {
    if (live.header == NULL)
        return;
    int failed = go_live(m);
    m->live = failed == 0;
    fall_back(failed);
}

void p3_live_end(void) { p3_file_close(&live); }

void p3_live_forked(void) {
    p3_live_end();
    lost = 0;
    child = 1;
}

void p3_live_remove(void) {
    struct p3_place place = p3_place(path);
    unlinkat(place.folder, place.name, 0);
}

void p3_live_complain(int failed) {
    if (failed > 0)
        p3_complain(path, "counts are lost", failed);
}
