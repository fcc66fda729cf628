// SPDX-License-Identifier: MIT OR Apache-2.0
/* Processes whose counts are in no file: a forked child that cannot make one, or any process that cannot. Nobody else
 * would know of them, since the line on stderr is read by nobody where tests run.
 *
 * A forked child has the file of the nearest ancestor mapped, and counts itself there, whatever limits and rights it
 * has by now. Any other process leaves an empty file where its own would be, of which the name says all: that takes no
 * descriptor, no memory and no space on disk.
 *
 * Both are there from the moment in which a file cannot be made, and are taken back when all counts are in one: a
 * process that is killed in between is told.
 *
 * Calls: p3_name.c, p3_process.c, p3_quiet.c.
 * In signal handlers: p3_absent_end; the rest in constructors and a forked child. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file of the nearest ancestor that has one. */
static struct {
    struct p3_raw_header *header;
    uint64_t page;
} ancestor;
/* Where it is noted that this process has none. */
static enum { NOWHERE, IN_ANCESTOR, BY_MARK } noted;
static char mark[P3_PATH_MAX + 128];

void p3_absent_inherit(struct p3_file *parent) {
    noted = NOWHERE;
    if (parent == NULL)
        return; /* the parent's ancestor is the child's */
    p3_absent_forget();
    ancestor.header = parent->header;
    ancestor.page = parent->page;
    parent->header = NULL; /* who closes the file leaves it mapped */
}

void p3_absent_forget(void) {
    if (ancestor.header != NULL)
        munmap(ancestor.header, ancestor.page);
    ancestor.header = NULL;
}

int p3_absent_share(void) {
    if (ancestor.header != NULL)
        __atomic_fetch_or(&ancestor.header->flags, P3_RAW_LOST, __ATOMIC_RELAXED);
    return ancestor.header != NULL;
}

static size_t append_hex(char *out, size_t size, size_t at, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        at = p3_append_number(out, size, at, bytes[i] >> 4, 16);
        at = p3_append_number(out, size, at, bytes[i] & 15, 16);
    }
    return at;
}

/* "FOLDER/" and `below` and "COPY-PROGRAM-ID" P3_ABSENT_END, of which ID is that of the missing file; 0 where that is
 * too long. */
static int name_mark(const char *path, const char *below, const struct p3_module *module) {
    const char *slash = strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1, size = sizeof mark;
    if (folder >= P3_PATH_MAX)
        return 0;
    memcpy(mark, path, folder);
    mark[folder] = 0;
    size_t at = p3_append_number(mark, size, p3_append(mark, size, folder, below), module->copy, 10);
    at = append_hex(mark, size, p3_append(mark, size, at, "-"), module->program, sizeof module->program);
    at = append_hex(mark, size, p3_append(mark, size, at, "-"), p3_process()->unique, sizeof p3_process()->unique);
    return p3_append(mark, size, at, P3_ABSENT_END) != SIZE_MAX;
}

static int make_mark(const char *path, const char *below, const struct p3_module *module) {
    if (!name_mark(path, below, module))
        return 0;
    struct p3_place place = p3_place(mark);
    int failed = mknodat(place.folder, place.name, S_IFREG | 0666, 0) != 0;
    /* Without a descriptor nobody came as far as to make the folder. */
    if (failed && errno == ENOENT && *below == 0 && p3_make_folders(mark) == 0)
        failed = mknodat(place.folder, place.name, S_IFREG | 0666, 0) != 0;
    return !failed;
}

void p3_absent_note(const struct p3_module *module, const char *path) {
    if (noted != NOWHERE)
        return;
    if (ancestor.header != NULL) {
        __atomic_fetch_add(&ancestor.header->absent, 1, __ATOMIC_RELAXED);
        noted = IN_ANCESTOR;
        return;
    }
    if (path != NULL && (make_mark(path, "", module) || make_mark(path, P3_ABSENT_FOLDER "/", module)))
        noted = BY_MARK;
}

void p3_absent_end(void) {
    if (noted == IN_ANCESTOR)
        __atomic_fetch_sub(&ancestor.header->absent, 1, __ATOMIC_RELAXED);
    if (noted == BY_MARK) {
        struct p3_place place = p3_place(mark);
        unlinkat(place.folder, place.name, 0);
    }
    noted = NOWHERE;
}
