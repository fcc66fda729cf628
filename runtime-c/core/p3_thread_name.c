// SPDX-License-Identifier: MIT OR Apache-2.0
/* What the profile says of threads that have counters of their own: how many had them at a shift, and what they are
 * called.
 *
 * Calls: p3_file.c, p3_layout.c, p3_live.c, p3_pool.c.
 * In signal handlers: p3_thread_name_store, where a profile is written; the rest where threads start and take names,
 * and in a forked child.
 *
 * A process that starts no thread has none of this. The records are in the file from the first moment, or in memory
 * where there is no file; without room for them threads have no names, and their counts are what they are. */
#include "p3_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { IN_BLOCK = P3_NAMES_IN_BLOCK, BLOCKS = P3_SHIFTS / IN_BLOCK + 1, ROOM = 4096 };
_Static_assert(sizeof(struct p3_raw_block) + IN_BLOCK * sizeof(struct p3_raw_name) <= ROOM, "records fit a page");

/* Mapped, once a thread has one of their shifts; atomic: names are given at any time. */
static struct p3_raw_block *blocks[BLOCKS];
/* By shift: whether the thread that has it took the name that stands there. */
static uint8_t has_name[P3_SHIFTS];
/* That of the thread that was first in the process. */
static uint32_t first;

static struct p3_raw_name *find(uint32_t shift) {
    struct p3_raw_block *block = __atomic_load_n(&blocks[shift / IN_BLOCK], __ATOMIC_ACQUIRE);
    return block == NULL ? NULL : (struct p3_raw_name *)(block + 1) + shift % IN_BLOCK;
}

static struct p3_raw_block describe(uint32_t number, uint64_t page) {
    struct p3_raw_block header = {
        .magic = P3_BLOCK_MAGIC, .kind = P3_BLOCK_NAMES, .module = number, .size = p3_round_up(ROOM, page)};
    header.crc = p3_block_crc(&header);
    return header;
}

/* Valid as soon as it has its magic number. */
static void begin(struct p3_raw_block *block, const struct p3_raw_block *header) {
    if (block->magic == P3_BLOCK_MAGIC)
        return;
    *block = *header;
    block->magic = 0;
    __atomic_store_n(&block->magic, P3_BLOCK_MAGIC, __ATOMIC_RELEASE);
}

/* Maps the block that is in the file or gets room there; an errno. */
static int map_in_file(struct p3_file *file, struct p3_raw_block *block, const struct p3_raw_block *header) {
    int fd = p3_file_open(file);
    if (fd < 0)
        return EBADF;
    uint64_t known = file->shared ? p3_pool_block(file, fd, header) : 0, at = known;
    int failed = known == 0 ? p3_file_claim(file, fd, header->size, &at) : 0;
    if (!failed && (failed = p3_map_file(block, header->size, fd, at)) != 0 && known == 0)
        p3_file_unclaim(file, fd, header->size, at);
    close(fd);
    return failed;
}

/* NULL: there is no room for it. */
static struct p3_raw_block *map_block(uint32_t number) {
    struct p3_file *file = p3_live_file();
    struct p3_raw_block header = describe(number, file == NULL ? ROOM : file->page), *block = p3_map(header.size);
    if (block != NULL && file != NULL && map_in_file(file, block, &header) != 0) {
        munmap(block, header.size);
        return NULL;
    }
    if (block != NULL)
        begin(block, &header);
    return block;
}

static void make(uint32_t number) {
    if (blocks[number] == NULL)
        __atomic_store_n(&blocks[number], map_block(number), __ATOMIC_RELEASE);
}

void p3_thread_name_room(uint32_t shift) {
    make(first / IN_BLOCK);
    make(shift / IN_BLOCK);
    struct p3_raw_name *of_first = find(first);
    if (of_first != NULL)
        of_first->flags |= P3_NAME_FIRST;
}

void p3_thread_name_start(uint32_t shift) {
    struct p3_raw_name *of = find(shift);
    has_name[shift] = 0;
    if (of != NULL)
        of->threads++;
}

void p3_thread_name_set(uint32_t shift, const char *name) {
    struct p3_raw_name *of = find(shift);
    char padded[P3_NAME_MAX] = "";
    for (size_t i = 0; i < sizeof padded && name[i] != 0; i++)
        padded[i] = name[i];
    if (of == NULL || padded[0] == 0)
        return;
    if (of->name[0] == 0)
        memcpy(of->name, padded, sizeof padded);
    if (memcmp(of->name, padded, sizeof padded) != 0) {
        of->others++;
    } else if (!has_name[shift]) {
        has_name[shift] = 1;
        of->named++;
    }
}

void p3_thread_name_forked(uint32_t shift) {
    for (uint32_t i = 0; i < BLOCKS; i++) {
        if (blocks[i] == NULL)
            continue;
        munmap(blocks[i], blocks[i]->size);
        blocks[i] = NULL;
    }
    first = shift;
}

int p3_thread_name_store(struct p3_file *file, int fd) {
    int failed = 0;
    for (uint32_t i = 0; i < BLOCKS && !failed; i++) {
        struct p3_raw_block header = describe(i, file->page);
        uint64_t at;
        if (blocks[i] == NULL)
            continue;
        failed = p3_file_claim(file, fd, header.size, &at);
        if (!failed)
            failed = p3_file_write(fd, &header, sizeof header, at);
        if (!failed)
            failed = p3_file_write(fd, blocks[i] + 1, IN_BLOCK * sizeof(struct p3_raw_name), at + sizeof header);
    }
    return failed;
}
