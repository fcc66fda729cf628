// SPDX-License-Identifier: MIT OR Apache-2.0
/* Sampling subpaths: what rewritten modules call where a sample begins, and for each block while one is recorded.
 *
 * An activation's first word holds how many of its blocks are skipped before a sample begins; above, the doublings of
 * the period at which that was drawn, and the width in bits of the segment's slots; or it is -1. Skips are geometric,
 * and so have no memory: what follows a beginning in the segment is drawn apart from what follows the segment.
 *
 * The second word holds how many blocks are nothing to us, which were taken off the skip. It is 0 while the activation
 * is recorded; what is recorded across calls makes the budget negative, whatever it is.
 *
 * Calls: p3_chance.c, p3_encode.c, p3_hot.c, p3_signal.c, p3_walker.c.
 * In signal handlers: all of it. */
#include "p3_internal.h"

#include <stddef.h>

enum { DOUBLINGS_SHIFT = P3_SKIP_BITS, DOUBLINGS_BITS = 5, WIDTH_SHIFT = DOUBLINGS_SHIFT + DOUBLINGS_BITS };
static const int64_t NONE = -1, SKIP = P3_SKIP, ALL = INT64_MAX;

static int is_within(const struct p3_walker *w) { return (w->sampling->flags & P3_WITHIN) != 0; }

static int64_t *skip_in(int64_t *frame) { return &frame[P3_FRAME_SKIP]; }

static int64_t *untold_in(int64_t *frame) { return &frame[P3_FRAME_UNTOLD]; }

static int64_t word(uint64_t skip, unsigned doublings, unsigned width) {
    return (int64_t)(skip | (uint64_t)doublings << DOUBLINGS_SHIFT | (uint64_t)width << WIDTH_SHIFT);
}

static unsigned doublings_in(int64_t word) { return (unsigned)(word >> DOUBLINGS_SHIFT) & ((1u << DOUBLINGS_BITS) - 1); }

/* The word after a beginning: where the next one is does not matter if it is not in this segment. */
static int64_t redraw(struct p3_walker *w, int64_t before) {
    unsigned doublings = p3_hot_doublings(), width = (unsigned)(before >> WIDTH_SHIFT);
    uint64_t skip = p3_chance_skip_up_to(&w->chance, p3_walker_period(w, doublings), UINT64_C(1) << width);
    return word(skip, doublings, width);
}

static int is_of(const struct p3_recording *r, const int64_t *frame) { return r->frame == NULL || r->frame == frame; }

static unsigned bit_of(const struct p3_walker *w, const struct p3_recording *r) { return 1u << (r - w->recordings); }

static void end(struct p3_walker *w, struct p3_recording *r, int state) {
    __atomic_store_n(&r->state, state, __ATOMIC_RELEASE);
    w->active &= ~bit_of(w, r);
    if (w->active == 0)
        p3_walker_lower(w, 0);
}

static void add_finished(struct p3_walker *w) {
    for (unsigned i = 0; i < P3_RECORDINGS; i++) {
        struct p3_recording *r = &w->recordings[i];
        if (r->state == P3_DONE && p3_hot_add(&r->encoder, r->length, r->doublings, w))
            r->state = P3_FREE;
    }
}

/* Seldom: what most blocks do is to need few registers. */
__attribute__((noinline)) static void finish(struct p3_walker *w, struct p3_recording *r) {
    p3_encode_end(&r->encoder);
    end(w, r, P3_DONE);
    add_finished(w);
}

/* The activations that these were of are over, since this one, which was there before them, goes on; or another one
 * has their place. */
static void drop(struct p3_walker *w, const int64_t *frame, int deeper) {
    for (unsigned rest = w->active; rest != 0; rest &= rest - 1) {
        struct p3_recording *r = &w->recordings[__builtin_ctz(rest)];
        if (r->frame != NULL && (deeper ? r->frame < frame : r->frame == frame))
            end(w, r, P3_FREE);
    }
}

static struct p3_recording *find_free(struct p3_walker *w) {
    for (unsigned i = 0; i < P3_RECORDINGS; i++)
        if (w->recordings[i].state == P3_FREE)
            return &w->recordings[i];
    return NULL;
}

static int has_finished(const struct p3_walker *w) {
    for (unsigned i = 0; i < P3_RECORDINGS; i++)
        if (w->recordings[i].state == P3_DONE)
            return 1;
    return 0;
}

/* Where all wait to be added, another thread is adding: for a moment, unless it has no core. What it crowds out are
 * samples of this thread alone, so waiting some time is better, and no lock is waited for for ever. */
static struct p3_recording *make_room(struct p3_walker *w, const int64_t *frame) {
    enum { PATIENCE = 1 << 17 };
    struct p3_recording *r = find_free(w);
    if (r == NULL)
        drop(w, frame, 1);
    for (int i = 0; r == NULL && i < PATIENCE; i++) {
        int waits = has_finished(w);
        add_finished(w);
        r = find_free(w);
        if (!waits)
            break;
    }
    return r;
}

static unsigned draw_length(struct p3_walker *w) {
    const struct p3_sampling *s = w->sampling;
    uint64_t at = p3_chance_next(&w->chance) >> 32;
    unsigned i = 0;
    for (; i + 1 < s->n_lengths && at >= s->chances[i]; i++)
        at -= s->chances[i];
    return i;
}

__attribute__((noinline)) static void begin(struct p3_walker *w, const int64_t *frame, uint32_t block, unsigned doublings) {
    p3_hot_begun(doublings);
    struct p3_recording *r = make_room(w, frame);
    if (r == NULL) {
        p3_hot_crowded(doublings);
        return;
    }
    r->length = draw_length(w);
    r->doublings = doublings;
    r->left = w->sampling->lengths[r->length] - 1;
    r->frame = is_within(w) ? frame : NULL;
    p3_encode_begin(&r->encoder, block, r->left + 1);
    r->state = P3_ACTIVE;
    w->active |= bit_of(w, r);
    if (r->frame == NULL)
        p3_walker_lower(w, 1);
    if (r->left == 0)
        finish(w, r);
}

static void record(struct p3_walker *w, const int64_t *frame, uint32_t block) {
    for (unsigned rest = w->active; rest != 0; rest &= rest - 1) {
        struct p3_recording *r = &w->recordings[__builtin_ctz(rest)];
        if (!is_of(r, frame))
            continue;
        p3_encode_block(&r->encoder, block);
        if (--r->left == 0)
            finish(w, r);
    }
}

/* Whether blocks of the activation are recorded. */
static int is_recorded(const struct p3_walker *w, const int64_t *frame) {
    for (unsigned rest = w->active; rest != 0; rest &= rest - 1)
        if (is_of(&w->recordings[__builtin_ctz(rest)], frame))
            return 1;
    return 0;
}

/* Those that were left out are to be skipped, as far as they are still to come. */
static void take_back(int64_t *frame) {
    if (*skip_in(frame) >= 0)
        *skip_in(frame) += *untold_in(frame);
    *untold_in(frame) = 0;
}

static void leave_untold(const struct p3_walker *w, int64_t *frame) {
    int64_t *skip = skip_in(frame);
    if (is_recorded(w, frame))
        *untold_in(frame) = 0;
    else if (*skip < 0)
        *untold_in(frame) = ALL;
    else {
        *untold_in(frame) = *skip & SKIP;
        *skip &= ~SKIP;
    }
}

static void tell(struct p3_walker *w, int64_t *frame, uint32_t block) {
    int64_t *skip = skip_in(frame);
    record(w, frame, block);
    if (*skip < 0)
        return;
    if ((*skip & SKIP) > 0)
        --*skip;
    else {
        begin(w, frame, block, doublings_in(*skip));
        *skip = redraw(w, *skip);
    }
}

__attribute__((noinline)) static void tell_of(int64_t *frame, uint32_t block) {
    struct p3_walker *w = p3_walker_enter();
    if (w == NULL)
        return;
    take_back(frame);
    tell(w, frame, block);
    leave_untold(w, frame);
    p3_walker_leave();
    if (p3_signal_waits())
        p3_signal_again();
}

/* Whether what begins is nothing to us: nothing is recorded that goes on with it. */
static int is_left_out(int64_t *frame) { return __p3_budget >= 0 && *untold_in(frame) > 0; }

void __p3_subpath_block(int64_t *frame, uint32_t block) {
    if (is_left_out(frame))
        --*untold_in(frame);
    else
        tell_of(frame, block);
}

static int decide(struct p3_walker *w, int64_t *frame, uint64_t slots, int fresh) {
    p3_walker_start();
    int64_t left = __p3_budget + (w->low ? P3_LOW : 0);
    if (fresh)
        drop(w, frame, 0);
    *skip_in(frame) = NONE;
    if (left < 0) {
        int64_t before = left + (int64_t)slots;
        unsigned width = 64 - (unsigned)__builtin_clzll(slots | 1);
        *skip_in(frame) = word(before < 0 ? 0 : (uint64_t)before, w->doublings, width);
        left = p3_walker_draw(w);
    }
    __p3_budget = left - (w->low ? P3_LOW : 0);
    leave_untold(w, frame);
    return *skip_in(frame) >= 0 || *untold_in(frame) == 0;
}

/* Nothing begins in what is left of the segment. */
static void leave_all_out(int64_t *frame) {
    *skip_in(frame) = NONE;
    *untold_in(frame) = ALL;
}

__attribute__((noinline)) static uint32_t ask(int64_t *frame, uint64_t slots, int fresh) {
    struct p3_walker *w = p3_walker_enter();
    if (w == NULL) {
        leave_all_out(frame);
        /* Nothing is sampled (yet): come again when it may be. */
        if (p3_hot_sampling() == NULL)
            __p3_budget = 1000;
        return 0;
    }
    int sampled = decide(w, frame, slots, fresh);
    p3_walker_leave();
    return (uint32_t)sampled;
}

uint32_t __p3_subpath_boundary(int64_t *frame, uint64_t slots, uint32_t fresh) {
    if (fresh != 0 || !is_left_out(frame))
        return ask(frame, slots, fresh != 0);
    leave_all_out(frame);
    return 0;
}
