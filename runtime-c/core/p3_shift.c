// SPDX-License-Identifier: MIT OR Apache-2.0
/* Counters of threads (P3_BY_THREAD). A thread's counter for the address A is at A + d: d is the thread's shift. On
 * x86-64 segment gs adds it; elsewhere functions read it from a variable of the thread when they begin. That of the
 * first thread is 0. Counters at a shift are further blocks of the profile's file, mapped there as those at 0 are; hash
 * tables and their caches are memory of the process.
 *
 * Calls: p3_arena.c, p3_layout.c, p3_live.c, p3_name.c, p3_quiet.c, p3_thread_name.c.
 * In signal handlers: p3_shift_own, p3_shift_each; the rest in constructors, a forked child, at dlclose, and where a
 * thread is started.
 *
 * A program and its libraries have a runtime each, and all of them have the same shifts: those of the program, which
 * libraries find by a note in its file. A library of a program without our runtime has no shifts, and its threads are
 * noticed (p3_threads.c).
 *
 * A shift is made when a thread begins and none is free. It stays, and its next owner counts on in the same pages. The
 * kernel says when the owner is gone: whatever a thread runs at its very end, like destructors, still has its
 * counters. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__ && !defined __ILP32__
#define SEGMENT
#define LARGEST_PAGE (1 << 12)
#elif defined __aarch64__ && !defined __ILP32__
#define LARGEST_PAGE (1 << 16)
#elif defined __riscv && __riscv_xlen == 64
#define LARGEST_PAGE (1 << 12)
#endif

#ifdef LARGEST_PAGE

#include <elf.h>

/* Numbers of shifts are below this one. What is not used takes no memory. */
enum { MOST = P3_SHIFTS, PAGE = LARGEST_PAGE, LOOKS = 4, FEW = 64, MAKING = -1, BY_OWNER = 1 << 12 };
/* Linux allows a process 65,530 mappings: the program keeps half of them. */
enum { MOST_MAPS = 32000 };

/* What is mapped at each shift for the runtime itself: at distance 0 it is this, and all zeros. It stands where the
 * modules' counters stand, behind the program's data, which it would align otherwise. */
static union {
    struct {
        int64_t distance;
        uint64_t number;
    } is;
    char page[PAGE];
} own __attribute__((aligned(PAGE), section(".llvm.linkonce.b.p3")));

/* A runtime of the process, and what it does at a shift. */
struct part {
    struct part *next;
    int64_t *offset; /* __p3_own_offset */
    int (*map)(const struct p3_shift *shift); /* an errno */
    void (*unmap)(const struct p3_shift *shift);
};

static struct p3_shift records[MOST];

/* What all runtimes share. */
static struct together {
    uint32_t abi;
    uint32_t n;       /* shifts, the first one included; atomic; 0: nothing is made so far */
    int lock;         /* of all else */
    uint32_t next;    /* which is looked at next */
    int has_base;     /* distances can be set without the kernel, to negative numbers as well */
    int stopped;      /* no more are made */
    int taken;        /* one was taken, in this process */
    int64_t offset;   /* __p3_own_offset of all parts */
    uint64_t maps;    /* what is mapped at shifts */
    int favoured;     /* the row of distances that did last */
    struct part *parts;
    uint16_t by_owner[BY_OWNER]; /* by the lower bits of a thread's id: the number of the shift that it took last */
    struct p3_shift *shifts;
    enum p3_watched watched; /* whose starts the program's runtime sees */
    int has_strangers;       /* a thread without a shift of its own was started */
} ours = {.abi = P3_ABI, .shifts = records};

/* Ours, or the program's; NULL: counters are not by thread, or there is nobody to agree with. */
static struct together *all;
/* Of this runtime: whether it has its counters at a shift. */
static uint8_t mapped[MOST];
static struct part part; /* once the first module is there */
static struct p3_module *const *modules;
/* Of the first thread's stack, about. */
static uintptr_t stack;

/* Where libraries find it: the distance from here. */
__asm__(".pushsection .note.p3.shifts,\"a\",%note\n"
        ".balign 4\n"
        ".long 3, 8, 1\n"
        ".ascii \"p3\\0\\0\"\n"
        "p3_shift_note:\n"
        ".quad p3_shift_together - p3_shift_note\n"
        ".popsection\n");
extern struct together p3_shift_together __attribute__((alias("ours"), visibility("hidden")));

static void *at(const void *address, int64_t distance) { return (void *)((uintptr_t)address + (uintptr_t)distance); }

int64_t __p3_own_offset;

#ifdef SEGMENT

static int64_t read_own(const void *word) {
    int64_t value;
    __asm__ volatile("movq %%gs:%1, %0" : "=r"(value) : "m"(*(const int64_t *)word));
    return value;
}

int64_t p3_shift_own(void) { return read_own(&own.is.distance); }

#else

/* A variable of the program: it is at one offset from the thread's pointer in all threads, which libraries are told. So
 * any code reads it without asking the loader, also in threads that are older than its library. */
static __thread struct {
    int64_t never; /* no offset is 0 */
    int64_t distance;
} of_thread;

static char *thread_pointer(void) {
    char *pointer;
#ifdef __aarch64__
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#else
    __asm__("mv %0, tp" : "=r"(pointer));
#endif
    return pointer;
}

int64_t p3_shift_own(void) {
    int64_t offset = __atomic_load_n(&__p3_own_offset, __ATOMIC_RELAXED);
    return offset == 0 ? 0 : *(const int64_t *)(const void *)(thread_pointer() + offset);
}

static int64_t read_own(const void *word) { return *(const int64_t *)at(word, p3_shift_own()); }

#endif

static uint32_t own_number(void) { return all == NULL ? 0 : (uint32_t)read_own(&own.is.number); }

static uint32_t count_shifts(void) { return all == NULL ? 1 : __atomic_load_n(&all->n, __ATOMIC_ACQUIRE); }

/* Whether this runtime has its counters at shift `number`, and at what distance. */
static int is_mapped(uint32_t number, int64_t *distance) {
    *distance = number == 0 ? 0 : all->shifts[number].distance;
    return number == 0 || __atomic_load_n(&mapped[number], __ATOMIC_ACQUIRE) != 0;
}

int p3_shift_is_on(void) { return all != NULL; }

void p3_shift_watch(enum p3_watched by_program) {
    if (all == &ours)
        all->watched = by_program;
}

void p3_shift_note_stranger(void) {
    if (all != NULL)
        __atomic_store_n(&all->has_strangers, 1, __ATOMIC_RELAXED);
}

int p3_shift_has_strangers(void) { return all != NULL && __atomic_load_n(&all->has_strangers, __ATOMIC_RELAXED); }

enum p3_watched p3_shift_watched(enum p3_watched mine) { return all == NULL || all == &ours ? mine : all->watched; }

#ifdef SEGMENT

/* Makes the distance the base of segment gs. */
static void set_base(int64_t distance) {
    if (all->has_base)
        __asm__ volatile("wrgsbase %0" : : "r"(distance) : "memory");
    else
        syscall(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, distance);
}

static int64_t get_base(void) {
    uint64_t base = 0;
    if (all->has_base) {
        __asm__ volatile("rdgsbase %0" : "=r"(base));
        return (int64_t)base;
    }
    return syscall(SYS_arch_prctl, 0x1004 /* ARCH_GET_GS */, &base) == 0 ? (int64_t)base : 0;
}

static void start_distances(void) {
    all->has_base = (getauxval(AT_HWCAP2) & 2 /* HWCAP2_FSGSBASE */) != 0;
    if (get_base() != 0) {
        p3_complain("threads", "segment gs is somebody else's: rewrite with --update atomic", 0);
        _exit(127);
    }
}

static void show_distances(void) {}

#else

static void set_base(int64_t distance) { of_thread.distance = distance; }

static void start_distances(void) { all->has_base = 1; }

/* From now on code asks which thread runs it. In the program, as whatever starts threads is; under the lock. */
static void show_distances(void) {
    if (all->offset != 0)
        return;
    all->offset = (char *)&of_thread.distance - thread_pointer();
    for (const struct part *p = all->parts; p != NULL; p = p->next)
        __atomic_store_n(p->offset, all->offset, __ATOMIC_RELAXED);
}

#endif

static uint64_t caches_size(const struct p3_module *m) {
    uint64_t tables = m->n_tables != 0 && m->tables[0].cache != NULL ? m->n_tables : 0;
    return p3_round_up(tables * (1 + P3_CACHED) * sizeof(int64_t), PAGE);
}

static uint64_t tables_size(const struct p3_module *m) { return p3_round_up(m->n_tables * sizeof *m->tables, PAGE); }

/* A module's pages that are at each shift. */
enum { COUNTERS, TABLES, CACHES, AREAS };
static struct p3_pages pages_of(const struct p3_module *m, int area) {
    if (area == COUNTERS)
        return (struct p3_pages){m->counters, m->counters_size};
    if (area == TABLES)
        return (struct p3_pages){m->tables, tables_size(m)};
    return (struct p3_pages){m->n_tables != 0 ? m->tables[0].cache : NULL, caches_size(m)};
}

/* Zeros at a shift, which are counted; 0: the address is taken. */
static int map_pages(void *base, uint64_t size) {
    int mapped_now = p3_map_at(base, size);
    all->maps += mapped_now != 0;
    return mapped_now;
}

static void unmap_pages(void *base, uint64_t size) {
    p3_unmap_at(base, size);
    all->maps--;
}

static void unmap_module(const struct p3_module *m, int64_t distance, int areas) {
    for (int area = 0; area < areas; area++) {
        struct p3_pages pages = pages_of(m, area);
        if (pages.size != 0)
            unmap_pages(at(pages.start, distance), pages.size);
    }
}

/* Maps zeros for all of a module; 0: some address is taken. */
static int map_zeros(const struct p3_module *m, int64_t distance) {
    for (int area = 0; area < AREAS; area++) {
        struct p3_pages pages = pages_of(m, area);
        if (pages.size != 0 && !map_pages(at(pages.start, distance), pages.size)) {
            unmap_module(m, distance, area);
            return 0;
        }
    }
    return 1;
}

/* What its hash tables begin as, once their pages are zeros. Levels that earlier processes filled are added then. */
static void begin_tables(const struct p3_module *m, const struct p3_shift *s) {
    struct p3_table *tables = at(m->tables, s->distance);
    for (uint32_t i = 0; i < m->n_tables; i++) {
        const struct p3_table *first = &m->tables[i];
        tables[i] = (struct p3_table){.func = first->func, .bits = first->bits, .size = first->size, .cache = first->cache};
        tables[i].distance = (uint64_t)s->distance;
        tables[i].shift = s->number;
    }
}

static void find_levels(const struct p3_module *m, const struct p3_shift *s) {
    struct p3_table *tables = at(m->tables, s->distance);
    for (uint32_t i = 0; i < m->n_tables; i++)
        p3_arena_levels(&tables[i]);
}

static int map_module(struct p3_module *m, const struct p3_shift *s) {
    if (!map_zeros(m, s->distance))
        return EEXIST;
    int failed = p3_live_shift(m, s, 0);
    if (failed) {
        unmap_module(m, s->distance, AREAS);
        return failed;
    }
    begin_tables(m, s);
    find_levels(m, s);
    return 0;
}

/* All modules from `first` up to `end`, or none of them; an errno. */
static int map_modules(struct p3_module *first, const struct p3_module *end, const struct p3_shift *s) {
    struct p3_module *m = first;
    int failed = 0;
    while (m != end && (failed = map_module(m, s)) == 0)
        m = m->next;
    for (const struct p3_module *n = first; failed && n != m; n = n->next)
        unmap_module(n, s->distance, AREAS);
    return failed;
}

/* How many mappings this runtime makes at a shift. */
static uint64_t count_maps(void) {
    uint64_t n = 1;
    for (const struct p3_module *m = *modules; m != NULL; m = m->next)
        for (int area = 0; area < AREAS; area++)
            n += pages_of(m, area).size != 0;
    return n;
}

static void unmap_part(const struct p3_shift *s) {
    if (!mapped[s->number])
        return;
    for (const struct p3_module *m = *modules; m != NULL; m = m->next)
        unmap_module(m, s->distance, AREAS);
    unmap_pages(at(&own, s->distance), sizeof own);
    mapped[s->number] = 0;
}

static void begin_own(const struct p3_shift *s) {
    __typeof__(own) *page = at(&own, s->distance);
    page->is.distance = s->distance;
    page->is.number = s->number;
    __atomic_store_n(&mapped[s->number], 1, __ATOMIC_RELEASE);
}

/* Of this runtime, where it has nothing there so far. */
static int map_part(const struct p3_shift *s) {
    if (mapped[s->number])
        return 0;
    if (all->maps + count_maps() > MOST_MAPS)
        return ENOMEM;
    if (!map_pages(at(&own, s->distance), sizeof own))
        return EEXIST;
    int failed = map_modules(*modules, NULL, s);
    if (failed)
        unmap_pages(at(&own, s->distance), sizeof own);
    else
        begin_own(s);
    return failed;
}

/* Everywhere, or nowhere; an errno. */
static int map_parts(const struct p3_shift *s) {
    int failed = 0;
    for (const struct part *p = all->parts; p != NULL && !failed; p = p->next)
        failed = p->map(s);
    for (const struct part *p = failed ? all->parts : NULL; p != NULL; p = p->next)
        p->unmap(s);
    return failed;
}

/* Where the first thread's stack is or may grow to. */
static int is_near_stack(uintptr_t address) {
    struct rlimit limit;
    int is_limited = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    uint64_t most = is_limited ? limit.rlim_cur : UINT64_C(1) << 30, around = UINT64_C(1) << 28;
    return address > stack - most - around && address < stack + around;
}

/* Rows of distances, far from what programs and sanitizers map; then nearer ones, for small address spaces. In each
 * they are a GiB apart. */
static const int64_t ROWS[] = {INT64_C(3) << 43, INT64_C(1) << 40, INT64_C(1) << 36, INT64_C(1) << 34, INT64_C(1) << 32};
enum { N_ROWS = sizeof ROWS / sizeof *ROWS, APART = 30 };

/* The distance of a shift in a row; 0: it has none there. Heaps grow upwards behind a program, so that those below
 * come first. */
static int64_t distance_in(int row, uint32_t number) {
    int64_t distance = ROWS[row % N_ROWS] + ((int64_t)number << APART);
    if (row < N_ROWS)
        return all->has_base && (uintptr_t)&own > (uint64_t)distance + (UINT64_C(1) << 32) ? -distance : 0;
    uintptr_t there = (uintptr_t)at(&own, distance);
    return there < UINT64_C(1) << 47 && !is_near_stack(there) ? distance : 0;
}

/* Maps everything at a shift that is new, or was a parent's: where it was, if that is free, else elsewhere. */
static int place(struct p3_shift *s) {
    if (s->distance != 0 && map_parts(s) == 0)
        return 1;
    for (int i = 0; i < 2 * N_ROWS; i++) {
        int row = (all->favoured + i) % (2 * N_ROWS);
        s->distance = distance_in(row, s->number);
        int failed = s->distance == 0 ? EEXIST : map_parts(s);
        if (!failed)
            all->favoured = row;
        if (failed != EEXIST)
            return !failed;
    }
    return 0;
}

/* One at a time; whoever is at it is not interrupted, as signals are blocked where threads are made. */
static void lock(void) {
    while (__atomic_exchange_n(&all->lock, 1, __ATOMIC_ACQUIRE) != 0)
        syscall(SYS_sched_yield);
}

static void unlock(void) { __atomic_store_n(&all->lock, 0, __ATOMIC_RELEASE); }

static int lives(int thread) { return syscall(SYS_tgkill, getpid(), thread, 0) == 0 || errno != ESRCH; }

static int is_vacant(const struct p3_shift *s) {
    int owner = __atomic_load_n(&s->owner, __ATOMIC_ACQUIRE);
    if (owner == 0)
        return 1;
    if (owner == MAKING)
        return 0;
    /* Ids of threads come again. */
    uint32_t last = all->by_owner[owner % BY_OWNER];
    if (last != s->number && all->shifts[last].owner == owner)
        return 1;
    return !lives(owner);
}

/* One that a thread left which is gone, among so many that are looked at; `start`: which ran that, 0 for any. */
static struct p3_shift *find_vacant(uint32_t looks, uintptr_t start) {
    uint32_t n = all->n;
    for (uint32_t i = 0; i < looks && i < n; i++) {
        struct p3_shift *s = &all->shifts[all->next % n];
        all->next = (all->next + 1) % n;
        if ((start == 0 || s->start == start) && is_vacant(s) && (s->number == 0 || map_parts(s) == 0))
            return s;
    }
    return NULL;
}

static struct p3_shift *make(void) {
    uint64_t most = p3_threads_wanted();
    if (all->stopped || all->n >= MOST || all->n >= most)
        return NULL;
    struct p3_shift *s = &all->shifts[all->n];
    s->number = all->n;
    if (!place(s)) {
        s->distance = 0;
        all->stopped = 1;
        return NULL;
    }
    __atomic_store_n(&all->n, all->n + 1, __ATOMIC_RELEASE);
    return s;
}

struct p3_shift *p3_shift_take(uintptr_t start) {
    lock();
    /* Reports have one row for all threads of a shift: of few, each runs one function. */
    struct p3_shift *s = find_vacant(LOOKS, all->n < FEW ? start : 0);
    if (s == NULL)
        s = make();
    if (s == NULL)
        s = find_vacant(all->n, 0);
    if (s != NULL) {
        show_distances();
        s->owner = MAKING;
        all->taken = 1;
        p3_thread_name_room(s->number);
    }
    unlock();
    return s;
}

void p3_shift_drop(struct p3_shift *s) { __atomic_store_n(&s->owner, 0, __ATOMIC_RELEASE); }

void p3_shift_enter(struct p3_shift *s) {
    int thread = (int)syscall(SYS_gettid);
    set_base(s->distance);
    all->by_owner[thread % BY_OWNER] = (uint16_t)s->number;
    __atomic_store_n(&s->owner, thread, __ATOMIC_RELEASE);
    p3_thread_name_start(s->number);
}

int p3_shift_is_entered(const struct p3_shift *s) { return __atomic_load_n(&s->owner, __ATOMIC_ACQUIRE) != MAKING; }

static int is_owned(const struct p3_shift *s) {
    int owner = __atomic_load_n(&s->owner, __ATOMIC_ACQUIRE);
    return owner == MAKING || (owner != 0 && lives(owner));
}

/* A handle comes again when its thread is gone. */
void p3_shift_name(uintptr_t handle, const char *name) {
    for (uint32_t i = 0; i < count_shifts() && all != NULL; i++) {
        struct p3_shift *s = &all->shifts[i];
        int is_it = __atomic_load_n(&s->handle, __ATOMIC_RELAXED) == handle;
        if (is_it && is_owned(s)) {
            p3_thread_name_set(i, name);
            return;
        }
    }
}

void p3_shift_name_own(const char *name) {
    if (all != NULL)
        p3_thread_name_set(own_number(), name);
}

uint64_t p3_shift_owned(void) {
    uint64_t owned = 0;
    for (uint32_t i = 0; i < count_shifts() && all->taken; i++)
        owned += (uint64_t)is_owned(&all->shifts[i]);
    return owned;
}

/* The program's, in a library: by the note in the segments that its headers tell of. */
static struct together *find_program(void) {
    const Elf64_Phdr *headers = (const void *)(uintptr_t)getauxval(AT_PHDR);
    uint64_t n = getauxval(AT_PHNUM);
    uintptr_t base = 0;
    for (uint64_t i = 0; headers != NULL && i < n; i++)
        if (headers[i].p_type == PT_PHDR)
            base = (uintptr_t)headers - headers[i].p_vaddr;
    for (uint64_t i = 0; headers != NULL && i < n; i++) {
        uintptr_t p = base + headers[i].p_vaddr, end = p + headers[i].p_memsz;
        while (headers[i].p_type == PT_NOTE && p + sizeof(Elf64_Nhdr) <= end) {
            const Elf64_Nhdr *note = (const void *)p;
            const char *name = (const char *)(note + 1);
            uintptr_t text = (uintptr_t)name + p3_round_up(note->n_namesz, 4);
            if (note->n_namesz == 3 && memcmp(name, "p3", 3) == 0 && note->n_type == 1 && note->n_descsz == 8) {
                int64_t distance;
                memcpy(&distance, (const void *)text, sizeof distance);
                struct together *found = at((const void *)text, distance);
                return found->abi == P3_ABI ? found : NULL;
            }
            p = text + p3_round_up(note->n_descsz, 4);
        }
    }
    return NULL;
}

/* By whichever runtime comes first: a library's, where the program is linked with it. */
static void make_first(void) {
    if (all->n != 0)
        return;
    start_distances();
    all->shifts[0].owner = getpid();
    all->n = 1;
}

void p3_shift_start(struct p3_module *const *all_modules, const struct p3_module *first, int in_program) {
    if ((first->flags & P3_BY_THREAD) == 0)
        return;
    all = in_program ? &ours : find_program();
    if (all == NULL)
        return;
    modules = all_modules;
    stack = (uintptr_t)__builtin_frame_address(0);
    make_first();
}

/* Threads start meanwhile, where a library is loaded: what they get at their shifts is whole, or nothing of it. */
void p3_shift_hold(void) {
    if (all != NULL)
        lock();
}

static void add_part(void) {
    part = (struct part){.next = all->parts, .offset = &__p3_own_offset, .map = map_part, .unmap = unmap_part};
    all->parts = &part;
    __p3_own_offset = all->offset;
}

/* A thread runs at the shift, which has no pages of this module: without some, its counts would be wild writes. */
static void map_lost(const struct p3_module *m, const struct p3_shift *s) {
    if (!map_zeros(m, s->distance)) {
        p3_complain("threads", "a library cannot get counters for each thread: link the program with -pie, or rewrite with --update atomic", 0);
        _exit(127);
    }
    begin_tables(m, s);
    p3_live_lost();
}

/* Of modules that register when there are shifts: in a library that is loaded later. */
static void map_later(struct p3_module *first, const struct p3_module *end, const struct p3_shift *s) {
    int are_first = end == NULL, failed = 0;
    if (are_first)
        failed = map_part(s);
    else if (mapped[s->number])
        failed = map_modules(first, end, s);
    if (failed == 0)
        return;
    if (is_vacant(s)) {
        for (const struct p3_module *n = end; n != NULL; n = n->next)
            unmap_module(n, s->distance, AREAS);
        if (!are_first)
            unmap_pages(at(&own, s->distance), sizeof own);
        mapped[s->number] = 0;
        return;
    }
    for (const struct p3_module *m = first; m != end; m = m->next)
        map_lost(m, s);
    if (are_first && map_pages(at(&own, s->distance), sizeof own))
        begin_own(s);
}

void p3_shift_modules(struct p3_module *first, const struct p3_module *end) {
    if (all == NULL)
        return;
    if (end == NULL)
        add_part();
    for (uint32_t i = 1; i < all->n; i++)
        map_later(first, end, &all->shifts[i]);
    unlock();
}

void p3_shift_reserve(void) {
    if (all != &ours)
        return;
    lock();
    for (uint64_t n = p3_threads_reserve(); n > 0 && make() != NULL; n--)
        ;
    unlock();
}

/* 0: some stay its parent's. */
static int leave_counters(const struct p3_shift *s) {
    int alone = 1;
    for (const struct p3_module *m = *modules; m != NULL; m = m->next) {
        for (int area = 0; area < AREAS; area++) {
            struct p3_pages pages = pages_of(m, area);
            alone &= pages.size == 0 || p3_map_over(at(pages.start, s->distance), pages.size);
        }
        begin_tables(m, s);
    }
    return alone;
}

/* A child has one thread, with its shift. Its counters are zeros from here on, and its own. */
int p3_shift_forked(void) {
    if (all == NULL)
        return 1;
    uint32_t mine = own_number();
    int alone = 1;
    p3_thread_name_forked(mine);
    for (uint32_t i = 1; i < MOST && i <= all->n; i++) {
        const struct p3_shift *s = &all->shifts[i];
        if (!mapped[i])
            continue;
        if (i != mine)
            unmap_part(s);
        else
            alone = leave_counters(s);
    }
    if (all == &ours) {
        for (uint32_t i = 0; i < all->n; i++)
            all->shifts[i].owner = 0;
        all->shifts[mine].owner = (int)syscall(SYS_gettid);
        all->by_owner[all->shifts[mine].owner % BY_OWNER] = (uint16_t)mine;
        all->lock = 0;
        all->stopped = 0;
        all->taken = 0;
        all->has_strangers = 0;
    }
    return alone;
}

void p3_shift_again(void) {
    uint32_t mine = own_number();
    for (struct p3_module *m = mine == 0 ? NULL : *modules; m != NULL; m = m->next) {
        if (p3_live_shift(m, &all->shifts[mine], 1) != 0)
            p3_live_lost();
        find_levels(m, &all->shifts[mine]);
    }
    if (mine != 0)
        p3_thread_name_room(mine);
}

void p3_shift_end(void) {
    if (all == NULL)
        return;
    lock();
    struct part **p = &all->parts;
    while (*p != NULL && *p != &part)
        p = &(*p)->next;
    if (*p != NULL)
        *p = part.next;
    for (uint32_t i = 1; i < all->n; i++)
        unmap_part(&all->shifts[i]);
    unlock();
    all = NULL;
}

#else

int64_t p3_shift_own(void) { return 0; }
static uint32_t count_shifts(void) { return 1; }
static int is_mapped(uint32_t number, int64_t *distance) { return *distance = 0, number == 0; }
int p3_shift_is_on(void) { return 0; }
void p3_shift_watch(enum p3_watched by_program) { (void)by_program; }
void p3_shift_note_stranger(void) {}
int p3_shift_has_strangers(void) { return 0; }
enum p3_watched p3_shift_watched(enum p3_watched mine) { return mine; }
struct p3_shift *p3_shift_take(uintptr_t start) { return (void)start, NULL; }
void p3_shift_drop(struct p3_shift *s) { (void)s; }
void p3_shift_enter(struct p3_shift *s) { (void)s; }
int p3_shift_is_entered(const struct p3_shift *s) { return (void)s, 1; }
uint64_t p3_shift_owned(void) { return 0; }
void p3_shift_start(struct p3_module *const *modules, const struct p3_module *first, int in_program) { (void)modules, (void)first, (void)in_program; }
void p3_shift_hold(void) {}
void p3_shift_modules(struct p3_module *first, const struct p3_module *end) { (void)first, (void)end; }
void p3_shift_reserve(void) {}
int p3_shift_forked(void) { return 1; }
void p3_shift_again(void) {}
void p3_shift_end(void) {}
void p3_shift_name(uintptr_t handle, const char *name) { (void)handle, (void)name; }
void p3_shift_name_own(const char *name) { (void)name; }

#endif

int p3_shift_each(const struct p3_module *modules_now, p3_shift_do *each, void *with) {
    int64_t distance;
    int failed = 0;
    for (uint32_t shift = 0; shift < count_shifts() && !failed; shift++) {
        const struct p3_module *m = is_mapped(shift, &distance) ? modules_now : NULL;
        for (; m != NULL && !failed; m = m->next)
            failed = each(m, shift, distance, with);
    }
    return failed;
}
