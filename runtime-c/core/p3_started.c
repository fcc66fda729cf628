// SPDX-License-Identifier: MIT OR Apache-2.0
/* How the processes of a pool's file were started, and how many of each kind: copies that ran otherwise are found by it.
 *
 * Calls: p3_file.c, p3_layout.c, p3_pool.c, p3_process.c.
 * In signal handlers: none of it; in constructors, a forked child and at exit. */
#include "p3_internal.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* This process's, as it will be in the file. */
static struct {
    struct p3_raw_started head;
    char text[P3_STARTED_TEXT_MAX];
} mine;

/* The block that it is in, mapped; NULL: none. */
static char *block;
static uint64_t block_size;
static struct p3_raw_started *record;

uint64_t p3_started_size(uint64_t page) { return p3_round_up(P3_STARTED_SIZE, page); }

static uint64_t fnv(uint64_t hash, const void *data, size_t n) {
    const uint8_t *p = data;
    while (n-- > 0)
        hash = (hash ^ *p++) * UINT64_C(0x100000001b3);
    return hash;
}

/* As the header and the strings behind it; of long arguments the first, whole. A forked child has its parent's. */
static void describe(void) {
    if (mine.head.key != 0)
        return;
    const struct p3_process *process = p3_process();
    size_t folder = strlen(process->folder) + 1, size = (size_t)(process->folder - process->text);
    mine.head = (struct p3_raw_started){.arguments = process->arguments, .process = process->process};
    const char *where = folder <= sizeof mine.text / 2 ? process->folder : "";
    folder = strlen(where) + 1;
    while (size > sizeof mine.text - folder) {
        for (size--; size > 0 && process->text[size - 1] != 0; size--)
            ;
        mine.head.arguments--;
        mine.head.process |= P3_RAW_ARGUMENTS_CUT;
    }
    memcpy(mine.text, process->text, size);
    memcpy(mine.text + size, where, folder);
    mine.head.text_size = (uint32_t)(size + folder);
    enum { BEGIN = offsetof(struct p3_raw_started, arguments), END = offsetof(struct p3_raw_started, reserved) };
    uint64_t hash = fnv(UINT64_C(0xcbf29ce484222325), mine.text, size + folder);
    hash = fnv(hash, (const char *)&mine.head + BEGIN, END - BEGIN);
    mine.head.key = hash != 0 ? hash : 1;
}

static uint64_t record_size(const struct p3_raw_started *r) {
    return p3_round_up(sizeof *r + r->text_size, sizeof(uint64_t));
}

/* Valid as soon as it has its key. One that was killed in here may have left a longer one: behind it are zeros. */
static struct p3_raw_started *write_record(uint64_t at) {
    struct p3_raw_started *r = (struct p3_raw_started *)(block + at);
    memset(r, 0, block_size - at);
    memcpy(r + 1, mine.text, mine.head.text_size);
    r->arguments = mine.head.arguments;
    r->text_size = mine.head.text_size;
    r->process = mine.head.process;
    __atomic_store_n(&r->key, mine.head.key, __ATOMIC_RELEASE);
    return r;
}

/* The record of processes like this one in the block that is mapped: as it is, or new where there is room. */
static struct p3_raw_started *find(void) {
    uint64_t at = sizeof(struct p3_raw_block);
    while (block_size - at >= sizeof mine.head) {
        struct p3_raw_started *r = (struct p3_raw_started *)(block + at);
        if (r->key == mine.head.key)
            return r;
        uint64_t size = record_size(r->key != 0 ? r : &mine.head);
        if (size > block_size - at)
            return NULL;
        if (r->key == 0)
            return write_record(at);
        at += size;
    }
    return NULL;
}

static int map(int fd, uint64_t size, uint64_t offset) {
    block = p3_map_of_file(size, fd, offset);
    block_size = size;
    return block != NULL;
}

/* In the blocks that are there; their number. */
static unsigned find_in_file(const struct p3_file *file, int fd) {
    struct p3_raw_block header;
    uint64_t at = 0;
    unsigned n = 0;
    while (file->shared && record == NULL && p3_pool_next(file, fd, &at, &header)) {
        if (header.kind != P3_BLOCK_STARTED || header.crc != p3_block_crc(&header))
            continue;
        n++;
        record = map(fd, header.size, at - header.size) ? find() : NULL;
        if (record == NULL)
            p3_started_forget();
    }
    return n;
}

static void add_block(struct p3_file *file, int fd) {
    struct p3_raw_block header = {.kind = P3_BLOCK_STARTED, .size = p3_started_size(file->page)};
    uint64_t at;
    if (p3_file_claim(file, fd, header.size, &at) != 0)
        return;
    header.crc = p3_block_crc(&header);
    if (!map(fd, header.size, at)) {
        p3_file_unclaim(file, fd, header.size, at);
        return;
    }
    memcpy(block, &header, sizeof header);
    __atomic_store_n(&((struct p3_raw_block *)block)->magic, P3_BLOCK_MAGIC, __ATOMIC_RELEASE);
    record = find();
}

void p3_started_add(struct p3_file *file, int child) {
    int fd = p3_file_borrow(file);
    if (fd < 0)
        return;
    describe();
    if (find_in_file(file, fd) < P3_STARTED_MOST && record == NULL)
        add_block(file, fd);
    p3_file_give_back(file, fd);
    if (record != NULL)
        ++*(child ? &record->children : &record->runs);
}

void p3_started_ended(void) {
    if (record != NULL)
        record->ended++;
}

void p3_started_forget(void) {
    if (block != NULL)
        munmap(block, block_size);
    block = NULL;
    record = NULL;
}
