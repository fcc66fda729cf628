// SPDX-License-Identifier: MIT OR Apache-2.0
/* Whether there is memory for a shadow: it copies what either of them writes, and its twin does so once more.
 *
 * Calls: p3_shadow_ask.c.
 * In signal handlers: p3_shadow_spare, p3_shadow_pages. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <stdlib.h>
#include <string.h>

enum { PAGE = P3_SHADOW_PAGE, NAME = 512, GROUPS = 4, MANY = 512 << 20 };

/* What files of a control group are called, in its two versions. */
static const struct files {
    const char *root, *hierarchy, *limit, *used, *cached;
} versions[] = {
    {"/sys/fs/cgroup", "0::/", "/memory.max", "/memory.current", "\ninactive_file "},
    {"/sys/fs/cgroup/memory", ":memory:/", "/memory.limit_in_bytes", "/memory.usage_in_bytes", "\ntotal_inactive_file "},
};

/* Groups of the program whose memory has a limit. */
static struct group {
    const struct files *files;
    char folder[NAME];
} groups[GROUPS];
static unsigned n_groups;

/* The number behind some text; `otherwise` where it is not there. */
static uint64_t number_behind(const char *text, const char *what, uint64_t otherwise) {
    const char *at = strstr(text, what);
    return at == NULL ? otherwise : strtoull(at + strlen(what), NULL, 10);
}

struct p3_shadow_pages p3_shadow_pages(void) {
    char text[128];
    struct p3_shadow_pages pages = {0, 0};
    const char *all = p3_shadow_read("/proc/self/statm", text, sizeof text) <= 0 ? NULL : strchr(text, ' ');
    if (all == NULL)
        return pages;
    uint64_t files = number_behind(all + 1, " ", 0);
    pages.all = number_behind(all, " ", 0);
    pages.own = files < pages.all ? pages.all - files : 0;
    return pages;
}

/* The beginning of a group's file. */
static long read_in(const char *folder, const char *name, char *text, long room) {
    char path[NAME + 32];
    size_t length = strlen(folder);
    memcpy(path, folder, length);
    memcpy(path + length, name, strlen(name) + 1);
    return p3_shadow_read(path, text, room);
}

/* The number in one; `max` and what cannot be read are more than there can be. */
static uint64_t number_in(const char *folder, const char *name) {
    char text[64];
    if (read_in(folder, name, text, sizeof text) <= 0 || text[0] < '0' || text[0] > '9')
        return UINT64_MAX;
    return strtoull(text, NULL, 10);
}

static void keep_limited(const struct files *files, const char *folder) {
    static const uint64_t no_limit = UINT64_C(1) << 60;
    if (n_groups == GROUPS || number_in(folder, files->limit) >= no_limit)
        return;
    groups[n_groups].files = files;
    memcpy(groups[n_groups++].folder, folder, strlen(folder) + 1);
}

/* The group that is named there, and those around it. */
static void find(const struct files *files, const char *names) {
    const char *line = strstr(names, files->hierarchy);
    char folder[NAME];
    size_t root = strlen(files->root), length = line == NULL ? 0 : strcspn(line + strlen(files->hierarchy), "\n");
    if (line == NULL || root + 1 + length >= NAME)
        return;
    memcpy(folder, files->root, root);
    folder[root] = '/';
    memcpy(folder + root + 1, line + strlen(files->hierarchy), length);
    folder[root + 1 + length] = 0;
    while (strlen(folder) > root) {
        char *last = strrchr(folder, '/');
        if (last[1] != 0)
            keep_limited(files, folder);
        *last = 0;
    }
    keep_limited(files, folder);
}

void p3_shadow_spare_find(void) {
    static char names[PAGE];
    n_groups = 0;
    if (p3_shadow_read("/proc/self/cgroup", names, sizeof names) <= 0)
        return;
    for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++)
        find(&versions[i], names);
}

/* What caches have of files is there for the asking. */
static uint64_t available_in(const struct group *group) {
    char text[PAGE];
    uint64_t limit = number_in(group->folder, group->files->limit), used = number_in(group->folder, group->files->used);
    if (used == UINT64_MAX || limit == UINT64_MAX)
        return UINT64_MAX;
    if (read_in(group->folder, "/memory.stat", text, sizeof text) > 0) {
        uint64_t cached = number_behind(text, group->files->cached, 0);
        used -= cached < used ? cached : used;
    }
    return used < limit ? limit - used : 0;
}

/* Of the machine a sixteenth; of a group as much as the program has, or half a gigabyte, which takes longer to write
 * than a burst. */
int p3_shadow_spare(void) {
    char text[256];
    uint64_t has = p3_shadow_pages().all * PAGE, needs = has < MANY ? has : MANY;
    for (unsigned i = 0; i < n_groups; i++)
        if (available_in(&groups[i]) < needs)
            return 0;
    if (p3_shadow_read("/proc/meminfo", text, sizeof text) <= 0)
        return 1;
    uint64_t total = number_behind(text, "MemTotal:", 0);
    return number_behind(text, "MemAvailable:", total) >= total / 16;
}

#else
typedef int p3_no_shadows;
#endif
