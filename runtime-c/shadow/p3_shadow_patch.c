// SPDX-License-Identifier: MIT OR Apache-2.0
/* Patches: jumps at the entries of native functions, breakpoints at their loops.
 *
 * Calls: p3_shadow_system.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = P3_SHADOW_PAGE, BREAKPOINT = P3_SHADOW_BREAKPOINT };

/* Where a loop can be left, where to, and what is noted when it comes by: each relative to the word itself; and the
 * number of the header where paths begin that are counted from there. */
struct site {
    int64_t at, way, passed;
    uint64_t header;
};
extern const struct site __start_p3_sites[] __attribute__((weak, visibility("hidden")));
extern const struct site __stop_p3_sites[] __attribute__((weak, visibility("hidden")));

static uint64_t site_at(const struct site *s) { return (uint64_t)(uintptr_t)&s->at + (uint64_t)s->at; }
static uint64_t site_way(const struct site *s) { return (uint64_t)(uintptr_t)&s->way + (uint64_t)s->way; }
static struct p3_passed *site_passed(const struct site *s) { return (struct p3_passed *)((uintptr_t)&s->passed + (uintptr_t)s->passed); }

/* What breakpoints are written over, by the number of the site. */
static uint8_t *bytes;

static uint64_t n_sites(void) { return (uint64_t)(__stop_p3_sites - __start_p3_sites); }

/* Few breakpoints are ever met: some for each activation that was there before the shadow. Of two at one address the
 * first knows the byte that was there. */
const struct p3_shadow_site *p3_shadow_site(uint64_t at) {
    static struct p3_shadow_site found;
    for (uint64_t i = 0; i < n_sites(); i++) {
        const struct site *site = &__start_p3_sites[i];
        if (site_at(site) == at) {
            found = (struct p3_shadow_site){at, site_way(site), site->header, site_passed(site), bytes[i]};
            return &found;
        }
    }
    return NULL;
}

int p3_shadow_is_site_within(const uint8_t *begin, const uint8_t *end) {
    for (const struct site *s = __start_p3_sites; s != __stop_p3_sites; s++)
        if (site_at(s) >= (uint64_t)(uintptr_t)begin && site_at(s) < (uint64_t)(uintptr_t)end)
            return 1;
    return 0;
}

/* The pages that were made writable last: patches come in the order of the code, most of the time. */
static uint64_t open_begin, open_end;

int p3_shadow_open(uint64_t address, uint64_t size) {
    enum { AHEAD = 16 * PAGE };
    uint64_t begin = address / PAGE * PAGE, end = p3_round_up(address + size, PAGE);
    int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    if (begin >= open_begin && end <= open_end)
        return 1;
    open_begin = begin;
    open_end = end > begin + AHEAD ? end : begin + AHEAD;
    if (P3_CALL(SYS_mprotect, begin, open_end - begin, all, 0, 0, 0) == 0)
        return 1;
    open_end = end; /* the text ends before that */
    return P3_CALL(SYS_mprotect, begin, end - begin, all, 0, 0, 0) == 0;
}

enum { ROOM = 16, NOP = 0x90, NEAR_JUMP = 0xe9, SHORT_JUMP = 0xeb, NEAR_SIZE = 5, SHORT_SIZE = 2 };

uint8_t *p3_shadow_room_of(uint8_t *native) {
    for (int i = 1; i <= ROOM; i++)
        if (native[-i] != NOP)
            return NULL;
    return native - ROOM;
}

/* The code that is patched, and where the program was interrupted in it. */
static const struct p3_module *patched;
static const uint8_t *interrupted;

static void jump_to_room(uint8_t *from) {
    from[0] = SHORT_JUMP;
    from[1] = (uint8_t)-(ROOM + SHORT_SIZE);
}

uint64_t p3_shadow_room(uint64_t at) {
    for (const struct p3_module *m = patched; m != NULL; m = m->next)
        for (uint32_t i = 0; i < m->n_entries; i++) {
            uint8_t *from = m->entries[i].from;
            if ((uint64_t)(uintptr_t)from != at)
                continue;
            if (from[1] != BREAKPOINT)
                jump_to_room(from); /* nobody is behind its first byte any more */
            return at - ROOM;
        }
    return 0;
}

/* The function begins with a jump to the room before it, where there is one to what stands beside it. If its first
 * instruction has one byte, control may be between that and the next, interrupted; or a loop may begin there against
 * all that the rewriter knows, which has a breakpoint then. A breakpoint of one byte stands for the short jump there
 * (p3_shadow_room). */
static int patch_entry(uint8_t *from, const uint8_t *to) {
    if (from[0] == BREAKPOINT)
        return 1; /* a loop begins with the function: it stays native */
    uint8_t *room = p3_shadow_room_of(from);
    int64_t distance = room == NULL ? INT64_MAX : (int64_t)((intptr_t)to - (intptr_t)(room + NEAR_SIZE));
    int32_t far = (int32_t)distance;
    if (far != distance)
        return 1; /* it stays native */
    if (!p3_shadow_open((uint64_t)(uintptr_t)room, ROOM + SHORT_SIZE))
        return 0;
    room[0] = NEAR_JUMP;
    memcpy(room + 1, &far, sizeof far);
    if (from[1] == BREAKPOINT || from + 1 == interrupted)
        from[0] = BREAKPOINT;
    else
        jump_to_room(from);
    return 1;
}

static int patch_sites(void) {
    int all = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;
    uint64_t n = n_sites();
    long memory = n == 0 ? 0 : P3_CALL(SYS_mmap, 0, n, all, own, -1, 0);
    if (memory < 0 && memory > -PAGE)
        return 0;
    bytes = (uint8_t *)memory;
    for (uint64_t i = 0; i < n; i++) {
        uint8_t *at = (uint8_t *)(uintptr_t)site_at(&__start_p3_sites[i]);
        if (!p3_shadow_open((uint64_t)(uintptr_t)at, 1))
            return 0;
        bytes[i] = *at;
        *at = BREAKPOINT;
    }
    return 1;
}

int p3_shadow_any(const struct p3_module *modules) {
    while (modules != NULL && modules->n_entries == 0)
        modules = modules->next;
    return modules != NULL;
}

int p3_shadow_patch(const struct p3_module *modules, const void *at) {
    open_begin = open_end = 0;
    patched = modules;
    interrupted = (const uint8_t *)at;
    if (!patch_sites())
        return 0;
    for (const struct p3_module *m = modules; m != NULL; m = m->next)
        for (uint32_t i = 0; i < m->n_entries; i++)
            if (!patch_entry(m->entries[i].from, m->entries[i].counting))
                return 0;
    return 1;
}

/* Shows all places that native code has as well. */
static void see_all(void (*see)(void *seen, uint64_t at, const struct p3_passed *passed, int is_entry), void *seen) {
    for (const struct p3_module *m = patched; m != NULL; m = m->next)
        for (uint32_t i = 0; i < m->n_entries; i++)
            see(seen, (uint64_t)(uintptr_t)m->entries[i].from, m->entries[i].passed, 1);
    for (const struct site *s = __start_p3_sites; s != __stop_p3_sites; s++)
        see(seen, site_at(s), site_passed(s), 0);
}

/* Whether another place has the address, or another address is the same place: compilers may put two at one, and do one
 * twice. */
struct others {
    const struct p3_shadow_mark *of;
    unsigned n;
};

static void see_other(void *seen, uint64_t at, const struct p3_passed *passed, int is_entry) {
    struct others *others = seen;
    (void)is_entry;
    others->n += at == others->of->at || passed == others->of->passed;
}

static int is_alone(const struct p3_shadow_mark *mark) {
    struct others others = {.of = mark};
    see_all(see_other, &others);
    return others.n == 1;
}

/* The best places so far, best first. `unknown`, by whether passes are counted without a breakpoint: what is not known
 * of each, as a part of the burst. */
struct search {
    struct p3_shadow_marks *best;
    double cost[P3_SHADOW_MARKS], unknown[2];
    int64_t end;
    double all;
};

static void insert(struct search *search, const struct p3_shadow_mark *mark, double cost) {
    struct p3_shadow_marks *best = search->best;
    unsigned i = best->n < P3_SHADOW_MARKS ? best->n++ : P3_SHADOW_MARKS - 1;
    for (; i > 0 && search->cost[i - 1] > cost; i--) {
        search->cost[i] = search->cost[i - 1];
        best->of[i] = best->of[i - 1];
    }
    search->cost[i] = cost;
    best->of[i] = *mark;
}

static void see_cost(void *seen, uint64_t at, const struct p3_passed *passed, int is_entry) {
    static const double most = 0.25;
    struct search *search = seen;
    if (passed->times == 0)
        return;
    int64_t left = (int64_t)passed->left;
    for (int fast = 0; fast < 2; fast++) {
        double cost = (double)(left - search->end) / search->all + (double)passed->times * search->unknown[fast];
        unsigned n = search->best->n;
        struct p3_shadow_mark mark = {at, passed->times, left, passed, is_entry, fast};
        if (cost < most && (n < P3_SHADOW_MARKS || cost < search->cost[n - 1]) && is_alone(&mark))
            insert(search, &mark, cost);
    }
}

void p3_shadow_find_marks(struct p3_shadow_marks *marks, int64_t begin, int64_t end, uint64_t nanoseconds) {
    static const double breakpoint = 10000, counted = 1;
    struct search search = {.best = marks, .end = end, .all = (double)(begin - end)};
    search.unknown[0] = breakpoint / ((double)nanoseconds + 1);
    search.unknown[1] = counted / ((double)nanoseconds + 1);
    marks->n = 0;
    see_all(see_cost, &search);
}

#else
typedef int p3_no_shadows;
#endif
