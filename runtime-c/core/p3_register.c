// SPDX-License-Identifier: MIT OR Apache-2.0
/* Registration of modules, and the life of the profile: it is created when the first module
 * registers, and holds every count from then on.
 *
 * Calls: p3_absent.c, p3_area.c, p3_arena.c, p3_create.c, p3_file.c, p3_hot.c, p3_layout.c, p3_live.c, p3_name.c, p3_past.c, p3_process.c, p3_quiet.c, p3_shift.c, p3_signal.c, p3_slot.c, p3_thread_name.c, p3_threads.c, p3_walker.c.
 * In signal handlers: act_on_signal; the rest in constructors, a forked child, at exit, and where the program calls it. */
#define _GNU_SOURCE
#include "p3_internal.h"
#include "p3_profile.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct p3_module *modules;
static int act_on_signal(enum p3_wish wish);

/* The modules from `first` up to `end` count in the profile from now on. */
static void start(struct p3_module *first, const struct p3_module *end) {
    for (struct p3_module *m = first; m != end; m = m->next)
        p3_live_module(m);
    p3_arena_tables(first, end, end == NULL ? p3_reserve_wanted() : 0);
    for (struct p3_module *m = first; m != end; m = m->next)
        p3_hot_start(m);
    p3_walker_start();
}

static void forget_tables(void) {
    for (struct p3_module *m = modules; m != NULL; m = m->next)
        for (uint32_t i = 0; i < m->n_tables; i++)
            p3_slot_empty(&m->tables[i]);
    p3_arena_forget();
}

struct p3_module *p3_registered(void) { return modules; }

int p3_counts_alone(void) {
    p3_signal_forked();
    p3_threads_forked();
    p3_create_forked();
    int alone = p3_shift_forked();
    p3_past_forget();
    p3_live_forked();
    forget_tables();
    p3_hot_forget();
    p3_walker_forked();
    /* The parent's counters are shared: they are left before anything is written. */
    for (struct p3_module *m = modules; m != NULL; m = m->next)
        alone &= p3_file_leave_counters(m);
    return alone;
}

/* The child counts for itself, from zero, in a profile of its own. Other threads of the parent are not here,
 * and what they locked will stay so: see the table in p3_internal.h. */
static void in_child(void) {
    struct p3_quiet before = p3_enter();
    p3_name_hold(1);
    p3_absent_inherit(p3_live_file());
    if (!p3_counts_alone() && p3_absent_share())
        p3_complain("profile", "a forked child cannot get counters of its own: its counts and its parent's are lost", 0);
    p3_process_forked();
    if (modules != NULL) {
        p3_live_start(modules);
        p3_arena_restart();
    }
    start(modules, NULL);
    p3_name_hold(0);
    p3_shift_again();
    p3_leave(before);
}

/* In a library, these two tell dlclose() from the end of the process, in which other threads still count:
 * there, functions given to atexit() run before all destructors; at dlclose(), one of the first destructors, which
 * is the compiler's, runs them. This one comes before that. */
static int destroying, ending;
__attribute__((destructor)) static void destroy(void) { destroying = 1; }
static void leave(void) { ending |= !destroying; }

/* There with TSan, which has a thread of its own. */
extern void __tsan_init(void) __attribute__((weak));

/* How many threads the process has; 0: it is not known, as behind a filter of system calls. The first one may have ended, and stays until
 * the others have. Of a process that never had a second one nothing is asked. */
static uint64_t count_threads(void) {
    struct p3_status status;
    if (p3_threads_is_single())
        return 1;
    uint64_t others = &__tsan_init != NULL ? 1 : 0;
    return p3_process_status(0, &status) ? status.threads - others - (status.state == 'Z') : 0;
}

/* Whether every one of so many threads has counters of its own. One that ended between the two looks is no stranger. */
static int are_known(uint64_t threads) {
    enum { LOOKS = 3 };
    int known = p3_threads_is_single();
    /* Of none that took one, the C library's threads were started past us. */
    for (int i = 0; i < LOOKS && !known; i++) {
        uint64_t owned = p3_shift_owned();
        known = owned != 0 && threads <= owned;
        if (!known)
            threads = count_threads();
    }
    return known;
}

static void start_process(struct p3_module *first) {
    p3_align_break();
    p3_name_start();
    p3_name_hold(1);
    p3_shift_start(&modules, first, p3_in_program());
    enum p3_watched watched = p3_create_watched();
    p3_shift_watch(watched);
    p3_threads_start(p3_shift_watched(watched), p3_shift_is_on() && are_known(count_threads()));
    int failed = pthread_atfork(NULL, NULL, in_child);
    ending = atexit(leave) != 0;
    if ((first->flags & P3_SHADOWED) == 0)
        p3_signal_start(act_on_signal);
    else if (p3_signal_wanted() != NULL)
        p3_complain("P3_SIGNAL", "shadows hand in whole bursts: there is nothing to dump, to reset or to rotate", 0);
    p3_live_start(first);
    if (failed) /* children would count in the file of their parent */
        p3_live_lost();
    p3_arena_restart();
    p3_name_hold(0);
}

/* What was counted in memory is counted in the profile. */
static void recount(struct p3_module *module) {
    for (uint32_t i = 0; i < module->n_tables; i++)
        if (p3_arena_in_memory(module->tables[i].level[0]))
            p3_slot_recount(&module->tables[i]);
}

/* All modules of the link at once: the constructors of the others find nothing to do. */
static void add_modules(struct p3_module *module) {
    struct p3_module *before = modules, *first = p3_area_list(module, before);
    for (struct p3_module *m = first; m != before; m = m->next)
        m->flags |= P3_REGISTERED;
    if (before == NULL)
        start_process(first);
    p3_shift_hold();
    modules = first;
    start(modules, before);
    p3_shift_modules(modules, before);
    if (before == NULL)
        p3_shift_reserve();
    for (struct p3_module *m = modules; m != before && p3_live_file() != NULL; m = m->next)
        recount(m);
}

void __p3_register(struct p3_module *module) {
    if ((module->flags & P3_REGISTERED) != 0)
        return;
    struct p3_quiet before = p3_enter();
    if (module->abi != P3_ABI)
        p3_complain("runtime", "a module was rewritten by another version; rewrite all of them", 0);
    else if (modules != NULL && !p3_is_same_program(modules, module))
        p3_complain("runtime", "modules of two rewritings in one program; the later are ignored", 0);
    else
        add_modules(module);
    p3_leave(before);
}

static int is_unsaved(void) {
    int unsaved = p3_arena_is_unsaved() || p3_hot_is_unsaved();
    for (struct p3_module *m = modules; m != NULL; m = m->next)
        unsaved |= !p3_is_kept(m);
    return unsaved;
}

struct destination {
    struct p3_file *file;
    int fd;
};

static int store_module(const struct p3_module *m, uint32_t shift, int64_t distance, void *to) {
    const struct destination *d = to;
    return p3_is_kept(m) ? 0 : p3_file_module(d->file, d->fd, m, shift, p3_counters_at(m, distance));
}

/* Writes to `file` what is only in memory; an errno. */
static int store(struct p3_file *file, int fd) {
    int failed = p3_shift_each(modules, store_module, &(struct destination){file, fd});
    if (!failed)
        failed = p3_arena_store(file, fd);
    return failed ? failed : p3_hot_store(file, fd);
}

/* The live profile has everything: where it has already, nothing of the system is asked for, which a filter of system calls might forbid. */
static int complete(struct p3_file *live) {
    int failed = 0;
    if (is_unsaved()) {
        int fd = p3_file_open(live);
        failed = fd < 0 ? EBADF : store(live, fd);
        if (fd >= 0)
            close(fd);
    }
    p3_live_saved(failed);
    return failed;
}

/* Whether no other thread is inside functions. Those of OpenMP that wait for work are in none. (A thread that no pthread_create() made is found only where
 * others were.) */
static int is_alone_among(uint64_t threads) { return threads <= 1 || p3_create_are_parked(threads - 1); }

/* Whether the process ends. */
static int at_end;

static int fill_whole(struct p3_file *file, int fd) {
    int failed = store(file, fd);
    if (!failed)
        failed = p3_thread_name_store(file, fd);
    file->header->flags |= p3_live_has_lost() ? P3_RAW_LOST : 0u;
    file->header->ended = at_end && is_alone_among(count_threads()) ? 1 : 0;
    file->header->children_ended = file->header->children != 0 ? file->header->ended : 0;
    return failed;
}

/* What was counted is in the file. Without a live profile one is written; a later one replaces it, and has the same id. */
static int write_profile(void) {
    struct p3_file *live = p3_live_file();
    int failed = live == NULL ? p3_live_write(modules, fill_whole) : complete(live);
    p3_live_complain(failed);
    return failed == P3_OFF ? 0 : failed;
}

static int dump(void) { return modules != NULL && p3_live_file() == NULL ? write_profile() : 0; }

/* Where it is in no file, and nobody but this process counts in it. */
static void clear_table(const struct p3_table *table) {
    for (unsigned l = 0; l < P3_LEVELS; l++) {
        struct p3_slot *slots = table->level[l];
        int in_memory = p3_live_file() == NULL ? slots != NULL : p3_arena_in_memory(slots);
        for (uint64_t s = 0; in_memory && s < p3_level_slots(l); s++)
            __atomic_store_n(&slots[s].count, 0, __ATOMIC_RELAXED);
    }
}

static int clear_module(const struct p3_module *m, uint32_t shift, int64_t distance, void *unused) {
    (void)shift, (void)unused;
    if (m->counters_size != 0 && !m->live)
        memset(p3_counters_at(m, distance), 0, m->counters_size);
    const struct p3_table *tables = (const void *)((uintptr_t)m->tables + (uintptr_t)distance);
    for (uint32_t i = 0; i < m->n_tables; i++)
        clear_table(&tables[i]);
    return 0;
}

static void clear(void) { p3_shift_each(modules, clear_module, NULL); }

/* From now on counts are those from now on. 0: who was interrupted keeps it from that. */
static int reset(void) {
    if (!p3_live_reset())
        return 1;
    int failed = p3_live_file() != NULL ? p3_past_note(modules) : 0;
    if (failed) {
        p3_complain("profile", "no space for a baseline: counts stay as they are", failed);
        return 1;
    }
    if (p3_hot_empty(NULL, -1) != 0)
        return 0;
    clear();
    if (p3_live_file() != NULL)
        p3_past_begin();
    return 1;
}

static int keep(struct p3_file *file, int fd) {
    int failed = p3_past_write(file, fd);
    if (!failed)
        failed = p3_thread_name_store(file, fd);
    return failed ? failed : p3_hot_empty(file, fd);
}

/* What was counted goes to a file of its own. The live one is told last: a process that is killed before that leaves two
 * files with one id, which are not added up. 0: who was interrupted keeps it from that. */
static int rotate(void) {
    if (p3_live_file() == NULL) {
        p3_complain("profile", "counts are kept in memory, so there is no file to rotate", 0);
        return 1;
    }
    if (!p3_live_reset())
        return 1;
    int failed = p3_past_note(modules);
    if (failed)
        p3_complain("profile", "no space for a baseline: counts stay as they are", failed);
    else
        failed = p3_live_beside(modules, p3_past_epoch(), keep);
    if (!failed)
        p3_past_begin();
    return failed != EBUSY;
}

/* In a signal handler. */
static int act_on_signal(enum p3_wish wish) {
    if (modules == NULL)
        return 1;
    if (wish == P3_DUMP)
        dump();
    return wish == P3_DUMP ? 1 : wish == P3_RESET ? reset() : rotate();
}

/* Others are at it for some milliseconds; a handler that interrupted them waits in vain. */
static int hold(void) {
    for (int i = 0; i < 1000000; i++)
        if (p3_signal_hold())
            return 1;
    p3_complain("profile", "another request is being served: nothing was done", 0);
    return 0;
}

int p3_profile_dump(void) {
    struct p3_quiet before = p3_enter();
    int failed = -1;
    if (hold()) {
        failed = dump();
        p3_signal_release();
    }
    p3_leave(before);
    return failed ? -1 : 0;
}

void p3_profile_reset(void) {
    struct p3_quiet before = p3_enter();
    if (hold()) {
        if (!reset())
            p3_complain("profile", "called from a handler that interrupted sampling: nothing was reset", 0);
        p3_signal_release();
    }
    p3_leave(before);
}

/* Of a library that is unloaded: its counters go with it. */
static void let_go(void) {
    p3_signal_end();
    p3_past_forget();
    p3_shift_end();
    forget_tables();
    p3_hot_forget();
    p3_live_end();
    p3_name_end();
    for (struct p3_module *m = modules; m != NULL; m = m->next)
        p3_file_free_spare(m);
}

static void at_exit(void) {
    struct p3_quiet before = p3_enter();
    if (modules != NULL) {
        p3_signal_hold(); /* what signals ask for from now on is not done */
        at_end = 1;
        /* Where a library is unloaded, no thread is in it. */
        uint64_t threads = count_threads();
        int is_alone = !ending || is_alone_among(threads), others_are_known = p3_shift_is_on() && are_known(threads);
        if (p3_shift_has_strangers())
            p3_threads_seen();
        /* The program may have begun after its library. */
        p3_threads_end(is_alone, others_are_known, p3_shift_watched(P3_UNWATCHED));
        p3_walker_flush();
        write_profile();
        if (is_alone || (others_are_known && !is_unsaved()))
            p3_live_ended(is_alone);
        if (!ending)
            let_go();
    }
    p3_leave(before);
}

/* The last of all destructors: what they count is in the profile. */
__attribute__((section(".fini_array.00000"), used)) static void (*const last)(void) = at_exit;
