// SPDX-License-Identifier: MIT OR Apache-2.0
/* Subpaths as bytes: numbers of seven bits a byte, the lowest first. The first is the first block's. Of each other
 * block follows its distance from the one before it, 2n for n and 2n - 1 for -n, times two; or, in subpaths of more
 * than P3_PLAIN_BLOCKS, twice a distance back less one, plus one, and how many blocks from here on repeat those at that
 * distance.
 *
 * Equal subpaths have equal bytes, and others have others: which repetitions are taken follows from the blocks alone.
 *
 * Calls: nothing.
 * In signal handlers: all of it. */
#include "p3_internal.h"

#include <string.h>

enum { WINDOW = P3_REPEAT_WINDOW, OLDEST = WINDOW, TRIED = 4 };

static void put(struct p3_encoder *e, uint64_t n) {
    do {
        if (e->size == P3_SUBPATH_MOST) {
            e->full = 1;
            return;
        }
        e->bytes[e->size++] = (uint8_t)(n > 127 ? n | 128 : n);
    } while ((n >>= 7) > 0);
}

static uint32_t back(const struct p3_encoder *e, uint32_t distance) { return e->recent[(e->at - distance) % WINDOW]; }

static void put_distance(struct p3_encoder *e, uint32_t block, uint32_t before) {
    uint64_t n = block >= before ? (uint64_t)(block - before) * 2 : (uint64_t)(before - block) * 2 - 1;
    put(e, n << 1);
}

/* Ends the repetition, if there is one. A single block is shorter without. */
static void put_run(struct p3_encoder *e) {
    if (e->run == 1)
        put_distance(e, back(e, 1), back(e, 2));
    else if (e->run > 1) {
        put(e, (uint64_t)__builtin_ctzll(e->distances) << 1 | 1);
        put(e, e->run);
    }
    e->run = 0;
}

/* Bit n - 1: the block is the one at distance n. The nearest few are tried. */
static uint64_t repeated(const struct p3_encoder *e, uint32_t block) {
    uint64_t distances = 0;
    uint32_t at = e->last[block % P3_ENCODER_SLOTS];
    for (int i = 0; i < TRIED && at >= OLDEST && e->at - at <= WINDOW; i++) {
        if (e->recent[at % WINDOW] == block)
            distances |= UINT64_C(1) << (e->at - at - 1);
        at = e->before[at % WINDOW];
    }
    return distances;
}

/* Those of the distances at which the block is repeated. */
static uint64_t still(const struct p3_encoder *e, uint32_t block) {
    uint64_t stay = 0;
    for (uint64_t d = e->distances; d != 0; d &= d - 1)
        if (back(e, (uint32_t)__builtin_ctzll(d) + 1) == block)
            stay |= d & -d;
    return stay;
}

static void remember(struct p3_encoder *e, uint32_t block) {
    uint32_t *last = &e->last[block % P3_ENCODER_SLOTS];
    e->recent[e->at % WINDOW] = block;
    e->before[e->at % WINDOW] = *last;
    *last = e->at++;
}

static void add(struct p3_encoder *e, uint32_t block) {
    uint64_t stay = e->run > 0 ? still(e, block) : 0;
    if (stay == 0) {
        put_run(e);
        stay = repeated(e, block);
        if (stay == 0)
            put_distance(e, block, back(e, 1));
    }
    e->run += stay != 0;
    e->distances = stay;
}

void p3_encode_begin(struct p3_encoder *e, uint32_t block, uint64_t length) {
    e->size = e->full = e->run = 0;
    e->distances = 0;
    e->at = OLDEST;
    e->plain = length <= P3_PLAIN_BLOCKS;
    if (!e->plain)
        memset(e->last, 0, sizeof e->last);
    put(e, block);
    if (e->plain)
        e->recent[0] = block; /* the last one */
    else
        remember(e, block);
}

void p3_encode_block(struct p3_encoder *e, uint32_t block) {
    if (e->plain) {
        put_distance(e, block, e->recent[0]);
        e->recent[0] = block;
    } else {
        add(e, block);
        remember(e, block);
    }
}

void p3_encode_end(struct p3_encoder *e) { put_run(e); }
