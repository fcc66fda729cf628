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

enum { PAGE = 4096, BREAKPOINT = 0xcc };

/* Where a loop can be left, and where to: each relative to the word itself. */
struct site {
    int64_t at, way;
};
extern const struct site __start_p3_sites[] __attribute__((weak, visibility("hidden")));
extern const struct site __stop_p3_sites[] __attribute__((weak, visibility("hidden")));

static uint64_t site_at(const struct site *s) { return (uint64_t)(uintptr_t)&s->at + (uint64_t)s->at; }
static uint64_t site_way(const struct site *s) { return (uint64_t)(uintptr_t)&s->way + (uint64_t)s->way; }

/* What breakpoints are written over, by the number of the site. */
static uint8_t *bytes;

static uint64_t n_sites(void) { return (uint64_t)(__stop_p3_sites - __start_p3_sites); }

/* Few breakpoints are ever met: some for each activation that was there before the shadow. Of two at one address the first knows the
 * byte that was there. */
const struct p3_shadow_site *p3_shadow_site(uint64_t at) {
    static struct p3_shadow_site found;
    for (uint64_t i = 0; i < n_sites(); i++)
        if (site_at(&__start_p3_sites[i]) == at) {
            found = (struct p3_shadow_site){at, site_way(&__start_p3_sites[i]), bytes[i]};
            return &found;
        }
    return NULL;
}

/* The pages that were made writable last: patches come in the order of the code, most of the time. */
static uint64_t open_begin, open_end;

static int open_page(uint64_t address, uint64_t size) {
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

/* A nop of five bytes, behind what marks a target of indirect jumps, if that is there; NULL when it is somebody else's function. */
static uint8_t *nop_of(uint8_t *native) {
    static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}, nop[] = {0x0f, 0x1f, 0x44, 0x00};
    if (memcmp(native, mark, sizeof mark) == 0)
        native += sizeof mark;
    return memcmp(native, nop, sizeof nop) == 0 ? native : NULL;
}

static int patch_entry(const struct p3_entry *entry) {
    uint8_t *nop = nop_of(entry->native);
    int64_t distance = nop == NULL ? INT64_MAX : (int64_t)((intptr_t)entry->counting - (intptr_t)(nop + 5));
    int32_t near = (int32_t)distance;
    if (near != distance)
        return 1; /* it stays native */
    if (!open_page((uint64_t)(uintptr_t)nop, 5))
        return 0;
    nop[0] = 0xe9;
    memcpy(nop + 1, &near, sizeof near);
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
        if (!open_page((uint64_t)(uintptr_t)at, 1))
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

int p3_shadow_patch(const struct p3_module *modules) {
    open_begin = open_end = 0;
    for (const struct p3_module *m = modules; m != NULL; m = m->next)
        for (uint32_t i = 0; i < m->n_entries; i++)
            if (!patch_entry(&m->entries[i]))
                return 0;
    return patch_sites();
}

#else
typedef int p3_no_shadows;
#endif
