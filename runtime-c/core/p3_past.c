// SPDX-License-Identifier: MIT OR Apache-2.0
/* Counts that were set aside, by p3_profile_reset or for another file: what each counter held then is noted, and readers subtract it.
 *
 * No counter is ever written: threads and interrupted code that are in the middle of an increment lose nothing and bring nothing back, and what
 * is in the files of a program adds up to what was counted, whatever comes in between. The words of a counter's block and of a hash table
 * are copied from the last to the first: a slot's count before its key, which is there before anything is counted.
 *
 * Two areas take turns. One store, of the header's epoch, says which is in force: a process that is killed has set everything
 * aside, or nothing.
 *
 * Calls: p3_arena.c, p3_file.c, p3_layout.c, p3_live.c, p3_shift.c.
 * In signal handlers: all of it, by one at a time. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 16, PIECE = 512 };

/* What is counted in one place of the file. */
struct part {
    const uint64_t *now;
    const struct p3_module *module; /* NULL: a region of the arena */
    uint32_t shift;
    uint64_t size; /* of an area */
    uint64_t mapped;
    struct p3_raw_block *block; /* the two areas follow its first page */
};

static struct part *parts;
static unsigned n_parts;

static uint64_t page(void) { return p3_live_file()->page; }

static uint64_t *area(const struct part *part, uint32_t epoch) {
    return (uint64_t *)((char *)part->block + page() + (epoch & 1) * part->size);
}

static void describe(const struct part *part, uint32_t kind, uint32_t number) {
    struct p3_raw_block *block = part->block;
    block->size = part->mapped;
    block->kind = P3_BLOCK_PAST;
    block->module = number;
    block->n_functions = kind;
    block->counters_offset = page();
    block->n_counters = part->size / sizeof(uint64_t);
    block->shift = part->shift;
    block->crc = p3_block_crc(block);
    __atomic_store_n(&block->magic, P3_BLOCK_MAGIC, __ATOMIC_RELEASE);
}

static int put_in_file(struct part *part) {
    struct p3_file *file = p3_live_file();
    int fd = p3_file_open(file);
    uint64_t offset;
    int failed = fd < 0 ? EBADF : p3_file_claim(file, fd, part->mapped, &offset);
    if (!failed && (failed = p3_map_file(part->block, part->mapped, fd, offset)) != 0)
        p3_file_unclaim(file, fd, part->mapped, offset);
    if (fd >= 0)
        close(fd);
    return failed;
}

/* Room for what `now` holds, which is zeros as long as nothing was set aside there. */
static int add(const uint64_t *now, uint64_t size, const struct p3_module *module, uint32_t number, uint32_t shift) {
    for (unsigned i = 0; i < n_parts; i++)
        if (parts[i].now == now)
            return 0;
    if (parts == NULL && (parts = p3_map(MOST * sizeof *parts)) == NULL)
        return ENOMEM;
    if (n_parts == MOST)
        return ENOSPC;
    size = p3_round_up(size, page());
    struct part part = {.now = now, .module = module, .shift = shift, .size = size, .mapped = page() + 2 * size};
    part.block = p3_map(part.mapped);
    if (part.block == NULL)
        return ENOMEM;
    int failed = put_in_file(&part);
    if (failed) {
        munmap(part.block, part.mapped);
        return failed;
    }
    describe(&part, module != NULL ? module->block->kind : P3_BLOCK_ARENA, number);
    parts[n_parts++] = part;
    return 0;
}

static int add_region(const char *base, uint64_t size, uint32_t number) {
    return add((const uint64_t *)base, size, NULL, number, 0);
}

static int add_module(const struct p3_module *m, uint32_t shift, int64_t distance, void *unused) {
    (void)unused;
    return !m->live || m->counters_size == 0 ? 0 : add(p3_counters_at(m, distance), m->counters_size, m, m->block->module, shift);
}

static int add_all(const struct p3_module *modules) {
    int failed = p3_shift_each(modules, add_module, NULL);
    return failed ? failed : p3_arena_each(add_region);
}

/* Pages that stay zero take no room. */
static void note(const struct part *part, uint32_t epoch) {
    uint64_t *to = area(part, epoch);
    for (uint64_t i = part->size / sizeof *to; i-- > 0;) {
        uint64_t n = __atomic_load_n(&part->now[i], __ATOMIC_ACQUIRE);
        if (to[i] != n)
            __atomic_store_n(&to[i], n, __ATOMIC_RELAXED);
    }
}

int p3_past_note(const struct p3_module *modules) {
    uint32_t next = p3_past_epoch() + 1;
    int failed = add_all(modules);
    for (unsigned i = 0; i < n_parts && !failed; i++)
        note(&parts[i], next);
    return failed;
}

uint32_t p3_past_epoch(void) { return __atomic_load_n(&p3_live_file()->header->epoch, __ATOMIC_RELAXED); }

void p3_past_begin(void) { __atomic_store_n(&p3_live_file()->header->epoch, p3_past_epoch() + 1, __ATOMIC_RELEASE); }

/* What the present epoch counted, of words `from` … of a part. Those of which not every one is a count are told by `odd`: slots. */
static int write_counts(int fd, const struct part *part, uint64_t from, uint64_t n, int odd, uint64_t offset) {
    const uint64_t *end = area(part, p3_past_epoch() + 1), *begin = area(part, p3_past_epoch());
    int failed = 0;
    for (uint64_t done = 0; done < n && !failed; done += PIECE) {
        uint64_t words[PIECE], left = n - done < PIECE ? n - done : PIECE, any = 0;
        for (uint64_t i = 0; i < left; i++) {
            uint64_t at = from + done + i, was = odd && i % 2 == 0 ? 0 : begin[at];
            /* Threads that do not count atomically may have lost some. */
            words[i] = end[at] > was ? end[at] - was : 0;
            any |= words[i];
        }
        if (any)
            failed = p3_file_write(fd, words, left * sizeof *words, offset + (from + done) * sizeof *words);
    }
    return failed;
}

static int write_module(struct p3_file *file, int fd, const struct part *part) {
    uint64_t offset;
    int failed = p3_file_block(file, fd, part->module, part->shift, &offset);
    return failed ? failed
                  : write_counts(fd, part, 0, part->module->counters_size / sizeof(uint64_t), 0,
                                 offset + part->module->block->counters_offset);
}

/* Its header, and of each chunk the header and the slots. */
static int write_region(struct p3_file *file, int fd, const struct part *part) {
    const char *noted = (const char *)area(part, p3_past_epoch() + 1);
    const struct p3_raw_block *block = (const void *)noted;
    uint64_t offset;
    int failed = p3_file_claim(file, fd, block->size, &offset);
    if (!failed)
        failed = p3_file_write(fd, noted, sizeof *block, offset);
    for (uint64_t at = P3_CHUNK_ALIGN; at < block->used && !failed;) {
        const struct p3_raw_chunk *chunk = (const void *)(noted + at);
        if (chunk->magic != P3_CHUNK_MAGIC) {
            at += P3_CHUNK_ALIGN;
            continue;
        }
        uint64_t words = chunk->slots * (sizeof(struct p3_slot) / sizeof(uint64_t));
        failed = p3_file_write(fd, chunk, sizeof *chunk, offset + at);
        if (!failed)
            failed = write_counts(fd, part, (at + sizeof *chunk) / sizeof(uint64_t), words, 1, offset);
        at = p3_round_up(at + sizeof *chunk + words * sizeof(uint64_t), P3_CHUNK_ALIGN);
    }
    return failed;
}

int p3_past_write(struct p3_file *file, int fd) {
    int failed = 0;
    for (unsigned i = 0; i < n_parts && !failed; i++)
        failed = parts[i].module != NULL ? write_module(file, fd, &parts[i]) : write_region(file, fd, &parts[i]);
    return failed;
}

void p3_past_forget(void) {
    for (unsigned i = 0; i < n_parts; i++)
        munmap(parts[i].block, parts[i].mapped);
    n_parts = 0;
}
