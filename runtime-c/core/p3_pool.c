// SPDX-License-Identifier: MIT OR Apache-2.0
/* Files that a process takes over from those before it: it goes on counting where they stopped.
 *
 * Calls: p3_crc.c, p3_file.c, p3_name.c, p3_owner.c.
 * In signal handlers: none of it; in constructors and a forked child.
 *
 * All processes of one program and copy have the same counters at the same places, so nothing is added up and nothing
 * copied: there is no moment at which a kill could lose counts, or have them twice. One process at a time counts
 * in a file, so increments need not be atomic; those that run at once have files of their own, and leave them to the next. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_at(int fd, void *out, size_t size, uint64_t offset) {
    ssize_t n;
    do
        n = pread(fd, out, size, (off_t)offset);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

/* The checksum of the header and of the text behind it. */
static int is_whole(int fd, const struct p3_raw_header *header) {
    char part[512];
    uint32_t crc = p3_crc32(0, header, offsetof(struct p3_raw_header, header_crc));
    for (uint64_t done = 0; done < header->text_size; done += sizeof part) {
        uint64_t left = header->text_size - done, size = left < sizeof part ? left : sizeof part;
        if (!read_at(fd, part, size, sizeof *header + done))
            return 0;
        crc = p3_crc32(crc, part, size);
    }
    return crc == header->header_crc;
}

/* Whether a process of this program may count in the file, as far as what never changes tells. */
static int is_alike(const struct p3_raw_header *header, const struct p3_counter *by) {
    const struct p3_module *m = by->module;
    return header->magic == P3_RAW_MAGIC && header->version == P3_RAW_VERSION &&
           header->header_size == sizeof *header &&
           memcmp(header->program, m->program, sizeof m->program) == 0 && header->copy == m->copy &&
           header->copies == m->copies && header->page == m->page && header->update == p3_update_of(m);
}

/* It still has its name, all of it is there, and whoever counted in it does so no more. */
static int is_left(int fd, struct stat *s, const char *path, const struct p3_raw_header *header, const struct p3_owner *self) {
    struct p3_place place = p3_place(path);
    struct stat named;
    return fstat(fd, s) == 0 && S_ISREG(s->st_mode) &&
           fstatat(place.folder, place.name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == s->st_dev &&
           named.st_ino == s->st_ino && header->file_size >= header->page &&
           header->file_size <= (uint64_t)s->st_size && header->text_size <= header->file_size &&
           is_whole(fd, header) && !p3_owner_lives(header, self) && p3_file_reserve(fd, s, header->file_size) == 0;
}

/* EBUSY, P3_APART, or 0: it is locked, and as in `header` and `s`. */
static int check(int fd, struct stat *s, const char *path, struct p3_raw_header *header, const struct p3_counter *by) {
    if (!read_at(fd, header, sizeof *header, 0) || !is_alike(header, by))
        return EBUSY;
    if ((header->flags & P3_RAW_APART) != 0)
        return P3_APART;
    /* Once more when no one can change it. */
    int mine = memcmp(header->boot, by->owner->boot, sizeof header->boot) == 0 && p3_owner_lock(fd) == 0 && read_at(fd, header, sizeof *header, 0) &&
               (header->flags & (P3_RAW_LOST | P3_RAW_UNSAVED)) == 0 && is_left(fd, s, path, header, by->owner);
    return mine ? 0 : EBUSY;
}

int p3_pool_take(struct p3_file *file, const char *path, const struct p3_counter *by) {
    struct p3_place place = p3_place(path);
    struct p3_raw_header header;
    struct stat s;
    int fd = openat(place.folder, place.name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? ENOENT : EBUSY;
    int failed = check(fd, &s, path, &header, by);
    if (failed) {
        close(fd);
        return failed;
    }
    *file = (struct p3_file){.fd = -1, .path = path, .page = header.page, .size = header.file_size, .shared = 1};
    if (p3_file_begin(file, fd, &s) != 0)
        return EBUSY;
    p3_owner_write(file->header, by->owner);
    __atomic_fetch_add(by->child ? &file->header->children : &file->header->runs, 1, __ATOMIC_RELAXED);
    return 0;
}

static int is_block(const struct p3_file *file, const struct p3_raw_block *block, uint64_t at) {
    return block->magic == P3_BLOCK_MAGIC && block->size >= file->page && block->size % file->page == 0 &&
           block->size <= file->size - at;
}

/* Pages that were reserved and never became a block begin with zeros. */
int p3_pool_next(const struct p3_file *file, int fd, uint64_t *at, struct p3_raw_block *block) {
    if (*at == 0)
        *at = p3_round_up(sizeof *file->header + file->header->text_size, file->page);
    while (*at < file->size && read_at(fd, block, sizeof *block, *at)) {
        int found = is_block(file, block, *at);
        *at += found ? block->size : file->page;
        if (found)
            return 1;
    }
    return 0;
}

/* Modules register in the same order in every process: the next one's block is behind that of the last. */
uint64_t p3_pool_block(const struct p3_file *file, int fd, const struct p3_raw_block *wanted) {
    static uint64_t last;
    struct p3_raw_block block;
    for (int around = 0; around < 2; around++) {
        uint64_t at = around == 0 ? last : 0;
        while (p3_pool_next(file, fd, &at, &block))
            if (memcmp(&block, wanted, sizeof block) == 0) {
                last = at;
                return at - block.size;
            }
    }
    return 0;
}
