/* Registration of modules, and when the profile is written: at normal exit and on request. */
#define _GNU_SOURCE
#include "p3_internal.h"
#include "p3_profile.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static struct p3_module *modules;
static int forked; /* in a child of the process that started */
static int lost;

void p3_count_lost(void) { lost = 1; }

static int same_program(const struct p3_module *a, const struct p3_module *b) {
    return memcmp(a->program, b->program, sizeof a->program) == 0 && a->copy == b->copy;
}

void p3_profile_reset(void) {
    for (struct p3_module *m = modules; m != NULL; m = m->next) {
        if (m->counters != NULL)
            memset(m->counters, 0, m->n_counters * sizeof *m->counters);
        for (uint32_t i = 0; i < m->n_functions; i++)
            if (m->functions[i].kind == P3_HASH)
                p3_table_reset(m->functions[i].counts);
    }
}

int p3_profile_dump(void) {
    char path[PATH_MAX];
    int saved = errno;
    int result = 0;
    if (lost)
        p3_complain("profile", "not written: out of memory, counts were lost");
    if (modules != NULL)
        result = lost || p3_file_name(path, sizeof path, modules->copy, forked) != 0 ||
                         p3_write(modules, path) != 0
                     ? -1
                     : 0;
    errno = saved;
    return result;
}

/* The child counts for itself: what the parent counted stays with the parent. */
static void in_child(void) {
    forked = 1;
    p3_profile_reset();
}

static void at_exit(void) { p3_profile_dump(); }

/* The last of all destructors: what they count is in the profile. */
__attribute__((section(".fini_array.00000"), used)) static void (*const finish)(void) = at_exit;

void __p3_register(struct p3_module *module) {
    if (module->abi != P3_ABI) {
        p3_complain("runtime", "a module was rewritten by another version; rewrite all of them");
        return;
    }
    for (struct p3_module *m = modules; m != NULL; m = m->next)
        if (m == module)
            return;
    if (modules == NULL)
        pthread_atfork(NULL, NULL, in_child);
    else if (!same_program(modules, module)) {
        p3_complain("runtime", "modules of two rewritings in one program; the later are ignored");
        return;
    }
    module->next = modules;
    modules = module;
}
