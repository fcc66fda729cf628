// SPDX-License-Identifier: MIT OR Apache-2.0
/* Modules whose counters lie side by side: an area, which is mapped, written and left as one. To the rest of the
 * runtime it is a module without tables, before its modules in the list; these have no counters then.
 *
 * Each module names itself in a section of its link, and has whole pages of counters in another. Linkers put such
 * sections together, so that a link has one area; where it has several, or a module has no name there, it costs a few
 * system calls more.
 *
 * Calls: p3_crc.c, p3_file.c.
 * In signal handlers: none of it; in constructors. */
#include "p3_internal.h"

#include <string.h>

/* The linker says where the section begins and ends. */
extern struct p3_module *const __start_p3_modules[] __attribute__((weak, visibility("hidden")));
extern struct p3_module *const __stop_p3_modules[] __attribute__((weak, visibility("hidden")));

enum { MOST = 32 };

static struct {
    struct p3_module module;
    struct p3_raw_block block;
} areas[MOST];
static unsigned n_areas;

static int is_listed(const struct p3_module *module) {
    struct p3_module *const *each = __start_p3_modules;
    while (each != __stop_p3_modules && *each != module)
        each++;
    return each != __stop_p3_modules;
}

/* Whether it may register along with `module`. */
static int can_join(const struct p3_module *m, const struct p3_module *module) {
    return m->abi == P3_ABI && p3_is_same_program(m, module) && m->page == module->page && m->flags == module->flags;
}

/* Modules in the order of their counters; first those that have none. */
struct sorted {
    struct p3_module *first, *last;
};

/* Linkers list modules as they place their counters: nearly always it is the last. */
static void insert(struct sorted *s, struct p3_module *m) {
    struct p3_module **place = &s->first;
    int has_counters = m->counters_size != 0;
    if (has_counters && s->last != NULL && s->last->counters <= m->counters)
        place = &s->last->next;
    while (has_counters && *place != NULL && (*place)->counters <= m->counters)
        place = &(*place)->next;
    m->next = *place;
    *place = m;
    if (m->next == NULL)
        s->last = m;
}

/* The last module whose counters follow those of the one before. */
static struct p3_module *find_last(struct p3_module *m) {
    uintptr_t end = 0;
    for (;; m = m->next) {
        if (m->counters_size != 0)
            end = (uintptr_t)m->counters + m->counters_size;
        const struct p3_module *next = m->next;
        if (next == NULL || (end != 0 && (uintptr_t)next->counters != end))
            return m;
    }
}

/* Puts the modules from `first` to `last` into an area that stands before them. */
static struct p3_module *make_area(struct p3_module *first, const struct p3_module *last) {
    struct p3_module *area = &areas[n_areas].module;
    struct p3_raw_block *block = &areas[n_areas++].block;
    uint64_t described = sizeof *block;
    *area = (struct p3_module){.abi = P3_ABI, .copy = first->copy, .copies = first->copies, .flags = first->flags,
                               .block = block, .page = first->page, .next = first};
    memcpy(area->program, first->program, sizeof area->program);
    *block = (struct p3_raw_block){.magic = P3_BLOCK_MAGIC, .kind = P3_BLOCK_AREA, .module = first->block->module};
    for (struct p3_module *m = first; m != last->next; m = m->next) {
        block->n_functions++;
        described += p3_description_size(m->block);
        if (area->counters == NULL)
            area->counters = m->counters;
        area->counters_size += m->counters_size;
        m->counters_size = 0;
        m->flags |= P3_IN_AREA;
    }
    block->counters_offset = p3_round_up(described, area->page);
    block->n_counters = area->counters_size / sizeof(uint64_t);
    block->size = block->counters_offset + area->counters_size;
    block->crc = p3_block_crc(block);
    for (const struct p3_module *m = first; m != last->next; m = m->next)
        block->crc = p3_crc32(block->crc, &m->block->crc, sizeof m->block->crc);
    return area;
}

/* Puts areas between the modules from `m` on, which are sorted, and `rest` behind them. */
static struct p3_module *make_areas(struct p3_module *m, struct p3_module *rest) {
    struct p3_module *all = NULL, **place = &all;
    while (m != NULL) {
        struct p3_module *last = find_last(m), *next = last->next;
        *place = n_areas < MOST ? make_area(m, last) : m;
        place = &last->next;
        m = next;
    }
    *place = rest;
    return all;
}

struct p3_module *p3_area_list(struct p3_module *module, struct p3_module *rest) {
    struct sorted s = {NULL, NULL};
    if (!is_listed(module)) {
        module->next = rest;
        return module;
    }
    for (struct p3_module *const *each = __start_p3_modules; each != __stop_p3_modules; each++)
        if (can_join(*each, module))
            insert(&s, *each);
    return make_areas(s.first, rest);
}
