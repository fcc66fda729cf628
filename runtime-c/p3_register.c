/* Registration of modules, and the life of the profile: it is created when the first module
 * registers, and holds every count from then on. */
#define _GNU_SOURCE
#include "p3_internal.h"
#include "p3_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct p3_module *modules;
static struct p3_file live = {.fd = -1};
static char path[PATH_MAX];
static int lost;
static int child;

struct p3_file *p3_live_file(void) { return live.fd >= 0 ? &live : NULL; }

void p3_count_lost(void) {
    if (__atomic_exchange_n(&lost, 1, __ATOMIC_RELAXED) == 0)
        p3_complain("profile", "out of memory, counts are lost");
    if (live.fd >= 0)
        __atomic_fetch_or(&live.header->flags, P3_RAW_LOST, __ATOMIC_RELAXED);
}

/* Creates the profile under the first name that is free; an errno. */
static int create(struct p3_file *file, const struct p3_module *module) {
    for (int n = 0; n < 10000; n++) {
        if (p3_file_name(path, sizeof path, module->copy, n) != 0)
            return -1; /* said already */
        int failed = p3_file_create(file, path, module);
        if (!failed && child)
            file->header->flags = P3_RAW_CHILD;
        if (failed != EEXIST)
            return failed;
    }
    return EEXIST;
}

/* Maps a module's counters over their place in the profile: what was counted before is there,
 * and each increment will be at once. */
static int go_live(struct p3_module *m) {
    uint64_t offset;
    if (m->counters_size == 0 || m->page != live.page)
        return m->counters_size == 0 ? p3_file_module(&live, m, &offset) : EINVAL;
    int failed = p3_file_module(&live, m, &offset);
    if (failed)
        return failed;
    void *at = mmap(m->counters, m->counters_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                    live.fd, (off_t)offset);
    return at == MAP_FAILED ? errno : 0;
}

static void fall_back(int failed) {
    if (failed > 0) {
        char text[160] = "counts are kept in memory until exit: ";
        strncat(text, strerror(failed), sizeof text - strlen(text) - 1);
        p3_complain(path, text);
    }
}

static void start(struct p3_module *m) {
    if (live.fd < 0)
        return;
    int failed = go_live(m);
    m->live = failed == 0;
    fall_back(failed);
}

static struct p3_table *table_of(const struct p3_module *m, uint32_t i) {
    return m->functions[i].kind == P3_HASH ? m->functions[i].counts : NULL;
}

static void empty(struct p3_table *table) {
    if (table->cache != NULL && table->level[0] != NULL)
        memset(table->cache, 0, P3_CACHED * sizeof *table->cache);
    memset(table->level, 0, sizeof table->level);
}

/* The child counts for itself, from zero, in a profile of its own. */
static void in_child(void) {
    int saved = errno;
    p3_file_close(&live);
    for (struct p3_module *m = modules; m != NULL; m = m->next)
        for (uint32_t i = 0; i < m->n_functions; i++)
            if (table_of(m, i) != NULL)
                empty(table_of(m, i));
    p3_arena_forget();
    for (struct p3_module *m = modules; m != NULL; m = m->next) {
        if (m->live) /* the parent's counters are shared: leave them before writing anything */
            mmap(m->counters, m->counters_size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        else if (m->counters_size != 0)
            memset(m->counters, 0, m->counters_size);
        m->live = 0;
    }
    lost = 0;
    child = 1;
    p3_process_forked();
    if (modules != NULL) {
        fall_back(create(&live, modules));
        for (struct p3_module *m = modules; m != NULL; m = m->next)
            start(m);
    }
    errno = saved;
}

static int same_program(const struct p3_module *a, const struct p3_module *b) {
    return memcmp(a->program, b->program, sizeof a->program) == 0 && a->copy == b->copy;
}

void __p3_register(struct p3_module *module) {
    int saved = errno;
    if (module->abi != P3_ABI) {
        p3_complain("runtime", "a module was rewritten by another version; rewrite all of them");
        return;
    }
    for (struct p3_module *m = modules; m != NULL; m = m->next)
        if (m == module)
            return;
    if (modules == NULL) {
        pthread_atfork(NULL, NULL, in_child);
        fall_back(create(&live, module));
        p3_arena_restart();
    } else if (!same_program(modules, module)) {
        p3_complain("runtime", "modules of two rewritings in one program; the later are ignored");
        return;
    }
    module->next = modules;
    modules = module;
    start(module);
    for (uint32_t i = 0; i < module->n_functions && live.fd >= 0; i++)
        if (table_of(module, i) != NULL)
            p3_arena_move(table_of(module, i));
    errno = saved;
}

/* Writes to `file` what is only in memory; an errno. */
static int store(struct p3_file *file) {
    uint64_t offset;
    int failed = 0;
    for (struct p3_module *m = modules; m != NULL && !failed; m = m->next)
        if (!m->live)
            failed = p3_file_module(file, m, &offset);
    if (!failed)
        failed = p3_arena_store(file);
    __atomic_fetch_or(&file->header->flags, lost || failed ? P3_RAW_LOST : 0u, __ATOMIC_RELAXED);
    return failed;
}

/* Other threads are still inside functions: theirs is no normal end. */
static int alone(void) {
    char text[1024] = "", *p = text;
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0 || (p = strrchr(text, ')')) == NULL)
        return 1;
    /* The number of threads is the 18th field behind the name. */
    for (int field = 0; field < 18 && p != NULL; field++)
        p = strchr(p + 1, ' ');
    return p == NULL || atol(p + 1) <= 1;
}

static uint32_t ended(void) { return alone() ? P3_RAW_ENDED : 0u; }

/* Without a live profile: writes one. A later one replaces it. */
static int write_whole(void) {
    static int written;
    struct p3_file file = {.fd = -1};
    if (written)
        unlink(path);
    int failed = create(&file, modules);
    if (!failed && (failed = store(&file)) != 0)
        unlink(path);
    if (!failed)
        __atomic_fetch_or(&file.header->flags, ended(), __ATOMIC_RELAXED);
    written = !failed;
    p3_file_close(&file);
    return failed;
}

static int finish(int at_exit) {
    int saved = errno, failed = 0;
    if (modules == NULL)
        return 0;
    if (live.fd < 0)
        failed = write_whole();
    else if (at_exit) {
        failed = store(&live);
        __atomic_fetch_or(&live.header->flags, ended(), __ATOMIC_RELAXED);
    }
    if (failed > 0) {
        char text[160] = "counts are lost: ";
        strncat(text, strerror(failed), sizeof text - strlen(text) - 1);
        p3_complain(path, text);
    }
    errno = saved;
    return failed ? -1 : 0;
}

int p3_profile_dump(void) { return finish(0); }

void p3_profile_reset(void) {
    for (struct p3_module *m = modules; m != NULL; m = m->next) {
        if (m->counters_size != 0)
            memset(m->counters, 0, m->counters_size);
        for (uint32_t i = 0; i < m->n_functions; i++)
            for (unsigned l = 0; table_of(m, i) != NULL && l < P3_LEVELS; l++)
                for (uint64_t s = 0; table_of(m, i)->level[l] != NULL && s < p3_level_slots(l); s++)
                    __atomic_store_n(&table_of(m, i)->level[l][s].count, 0, __ATOMIC_RELAXED);
    }
}

static void at_exit(void) { finish(1); }

/* The last of all destructors: what they count is in the profile. */
__attribute__((section(".fini_array.00000"), used)) static void (*const last)(void) = at_exit;
