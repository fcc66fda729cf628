// SPDX-License-Identifier: MIT OR Apache-2.0
/* The profile that holds every count from the moment in which it is counted, and its name.
 *
 * Calls: p3_absent.c, p3_file.c, p3_layout.c, p3_name.c, p3_owner.c, p3_pool.c, p3_quiet.c, p3_started.c, p3_threads.c.
 * In signal handlers: p3_live_file, p3_live_lost, p3_live_unsaved; one at a time p3_live_write, p3_live_beside, p3_live_reset. */
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
static int ended;
/* A whole file of this process has the name `path`. */
static int written;

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

void p3_live_unsaved(void) {
    if (live.header != NULL)
        __atomic_fetch_or(&live.header->flags, P3_RAW_UNSAVED, __ATOMIC_RELAXED);
}

void p3_live_saved(int failed) {
    if (failed || p3_live_has_lost())
        __atomic_fetch_or(&live.header->flags, P3_RAW_LOST, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(&live.header->flags, ~P3_RAW_UNSAVED, __ATOMIC_RELAXED);
}

int p3_live_has_lost(void) { return __atomic_load_n(&lost, __ATOMIC_RELAXED); }

/* Sets `name`, of P3_PATH_MAX bytes, to the n-th name, and asks whether it is taken: 1, 0, or P3_SAID. */
static int taken(char *name, const struct p3_module *module, int n) {
    int failed = p3_file_name(name, P3_PATH_MAX, module, n);
    return failed ? failed : p3_file_taken(name);
}

/* Sets `name` to a free one from the n-th on: its number, or P3_SAID. Few steps, even where thousands are taken. */
static int find_name(char *name, const struct p3_module *module, int n) {
    int before = n - 1, answer;
    for (int step = 1; (answer = taken(name, module, n)) > 0 && n < 1 << 28; step *= 2) {
        before = n;
        n += step;
    }
    int is_set = n - before == 1;
    while (answer == 0 && n - before > 1) {
        int middle = before + (n - before) / 2;
        if (taken(name, module, middle) > 0)
            before = middle;
        else
            n = middle;
    }
    return answer < 0 || (!is_set && taken(name, module, n) < 0) ? P3_SAID : n;
}

/* No profile goes to /dev/null, and none may go beside another device, or a folder. */
static int check_pattern(const struct p3_module *module) {
    struct stat s;
    int failed = p3_file_name(path, sizeof path, module, 0);
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

/* Under a free name from the n-th on, of which others may be looking for one as well. */
static int create_from(struct p3_file *file, char *name, const struct p3_counter *by, int n) {
    enum { TRIES = 1000 };
    int failed = EEXIST;
    for (int i = 0; i < TRIES && failed == EEXIST; i++) {
        n = find_name(name, by->module, n);
        failed = n < 0 ? n : p3_file_create(file, name, by);
    }
    return failed;
}

int p3_live_write(const struct p3_module *module, int (*fill)(struct p3_file *, int)) {
    struct p3_file file = {.fd = -1};
    struct p3_counter by = {.module = module, .child = child, .replace = written, .fill = fill};
    int failed = written ? p3_file_create(&file, path, &by) : check_pattern(module);
    if (!failed && !written)
        failed = create_from(&file, path, &by, 0);
    if (!failed) {
        written = 1;
        p3_absent_end();
    }
    return failed;
}

int p3_live_beside(const struct p3_module *module, uint32_t epoch, int (*fill)(struct p3_file *, int)) {
    static char name[P3_PATH_MAX];
    struct p3_file file = {.fd = -1};
    struct p3_counter by = {.module = module, .child = child, .epoch = epoch, .fill = fill};
    int failed = create_from(&file, name, &by, 0);
    if (failed > 0 && failed != EBUSY)
        p3_complain(name, "cannot write this profile: counts stay in the one before", failed);
    p3_file_close(&file);
    return failed;
}

/* The first file of the pool that no living process counts in, or a new one behind those that are in use. */
static int take(struct p3_file *file, const struct p3_counter *by) {
    enum { MOST = 1 << 14 }; /* each costs system calls */
    struct p3_counter alone = {.module = by->module, .child = by->child, .ahead = by->ahead};
    for (int n = 0; n < MOST; n++) {
        int failed = p3_file_name(path, sizeof path, by->module, n);
        if (!failed)
            failed = p3_pool_take(file, path, by);
        if (failed == ENOENT)
            failed = p3_file_create(file, path, by); /* EEXIST: someone was faster, and uses it by now */
        if (failed == P3_APART)
            return create_from(file, path, &alone, n);
        if (failed != EBUSY && failed != EEXIST)
            return failed;
    }
    return create_from(file, path, &alone, MOST);
}

/* What the modules' counters take in a file. */
static uint64_t blocks_size(const struct p3_module *m) {
    uint64_t size = 0;
    for (; m != NULL; m = m->next)
        size += (m->flags & P3_IN_AREA) == 0 ? m->block->size : 0;
    return size;
}

/* As the pattern says: the file of a pool, or one of this process alone. */
static int start(const struct p3_module *module) {
    struct p3_owner self = p3_name_pooled() ? p3_owner_self() : (struct p3_owner){.pid = 0};
    struct p3_counter by = {.module = module, .child = child, .ahead = blocks_size(module)};
    int pooled = 0;
    for (size_t i = 0; i < sizeof self.boot; i++)
        pooled |= self.boot[i];
    int failed = check_pattern(module);
    if (failed || !pooled)
        return failed ? failed : create_from(&live, path, &by, 0);
    by.owner = &self;
    by.ahead += p3_started_size(module->page);
    return take(&live, &by);
}

/* Others may count in it when this process is gone. */
static int is_pooled(void) { return live.header != NULL && live.header->owner != 0; }

/* Maps counters of a module over its block: those at 0 for as long as the process lives, or those at a shift, of which
 * `counted` says whether they may not be zeros. */
static int map_block(int fd, struct p3_module *m, const struct p3_shift *shift, int counted, uint64_t offset) {
    if (shift == NULL)
        return p3_file_map_counters(fd, m, offset);
    void *counters = p3_counters_at(m, shift->distance);
    if (counted)
        return p3_file_map_over(fd, m, counters, offset);
    return p3_map_file(counters, m->counters_size, fd, offset + m->block->counters_offset);
}

static int go_live(struct p3_module *m, const struct p3_shift *shift, int counted) {
    int fd = p3_file_borrow(&live), failed = m->page != live.page ? EINVAL : 0;
    if (fd < 0)
        return EBADF;
    uint32_t number = shift == NULL ? 0 : shift->number;
    struct p3_raw_block block = p3_block_at(m, number);
    uint64_t at = !failed && live.shared ? p3_pool_block(&live, fd, &block) : 0;
    int fresh = at == 0;
    if (!failed && fresh)
        failed = p3_file_block(&live, fd, m, number, &at);
    if (!failed && (failed = map_block(fd, m, shift, counted, at)) != 0 && fresh)
        p3_file_unclaim(&live, fd, m->block->size, at);
    p3_file_give_back(&live, fd);
    return failed;
}

static void fall_back(int failed) {
    if (failed > 0)
        p3_complain(path, "counts are kept in memory until exit", failed);
}

void p3_live_start(const struct p3_module *first) {
    int failed = start(first);
    fall_back(failed);
    if (!failed) {
        p3_threads_watch(&live.header->flags);
        p3_absent_forget();
    } else if (failed != P3_OFF)
        p3_absent_note(first, failed > 0 ? path : NULL);
    if (is_pooled())
        p3_started_add(&live, child);
}

void p3_live_module(struct p3_module *m) {
    if (live.header == NULL || p3_is_kept(m))
        return;
    int failed = go_live(m, NULL, 1);
    if (failed)
        p3_live_unsaved();
    fall_back(failed);
}

int p3_live_shift(struct p3_module *m, const struct p3_shift *shift, int counted) {
    return live.header == NULL || !m->live || m->counters_size == 0 ? 0 : go_live(m, shift, counted);
}

static void let_go(void) {
    p3_threads_watch(NULL);
    p3_started_forget();
    p3_file_close(&live);
}

/* This process lives on, and may load the library again. */
void p3_live_end(void) {
    if (is_pooled())
        live.header->owner = 0;
    let_go();
    p3_file_end();
    p3_absent_forget();
}

void p3_live_forked(void) {
    let_go();
    lost = 0;
    ended = 0;
    written = 0;
    child = 1;
}

void p3_live_ended(int is_alone) {
    if (live.header == NULL || ended)
        return;
    ended = 1;
    if (!is_alone) {
        __atomic_fetch_add(&live.header->ended_with_threads, 1, __ATOMIC_RELAXED);
        return;
    }
    if (child)
        __atomic_fetch_add(&live.header->children_ended, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&live.header->ended, 1, __ATOMIC_RELAXED);
    p3_started_ended();
}

int p3_live_reset(void) {
    if (!is_pooled())
        return 1;
    if (!live.shared)
        __atomic_fetch_or(&live.header->flags, P3_RAW_APART, __ATOMIC_RELAXED);
    else
        p3_complain(path, "counts of other processes cannot be reset or rotated: use %p in P3_PROFILE_FILE", 0);
    return !live.shared;
}

void p3_live_complain(int failed) {
    if (failed > 0)
        p3_complain(path, "counts are lost", failed);
}
