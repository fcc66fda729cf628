// SPDX-License-Identifier: MIT OR Apache-2.0
/* Addresses that copies have in common, for programs whose path depends on them: copies differ in the size
 * of code and counters, behind which the heap begins, and in what their tables map.
 *
 * Calls: p3_quiet.c.
 * In signal handlers: all but p3_align_break. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if UINTPTR_MAX > UINT32_MAX
enum { BREAK_SHIFT = 30 };
#else
enum { BREAK_SHIFT = 24 };
#endif

/* First byte of the object that this runtime is in; by the linker. */
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));

int p3_in_program(void) {
    uintptr_t headers = (uintptr_t)getauxval(AT_PHDR), start = (uintptr_t)__ehdr_start;
    return start != 0 && headers > start && headers - start < 4096;
}

/* With addresses at random there is nothing to gain. */
static int addresses_are_fixed(void) {
    int now = personality(0xffffffff);
    return now != -1 && (now & ADDR_NO_RANDOMIZE) != 0;
}

static uintptr_t move_break(uintptr_t to) {
#ifdef __GLIBC__
    uintptr_t from = (uintptr_t)sbrk(0);
    return from != UINTPTR_MAX && (to == 0 || sbrk((intptr_t)(to - from)) != (void *)-1) ? (uintptr_t)sbrk(0) : 0;
#else /* musl's sbrk() knows no other value than 0 */
    return (uintptr_t)syscall(SYS_brk, to);
#endif
}

/* The distance to the boundary is far larger than copies differ: from where Linux puts programs without
 * randomisation, 340 MB and more. It is given back: only addresses are used up. A limit on data would count
 * it nevertheless. */
void p3_align_break(void) {
    static int done;
    struct rlimit limit;
    if (done)
        return;
    done = 1;
    if (!p3_in_program() || !addresses_are_fixed() || getrlimit(RLIMIT_DATA, &limit) != 0 ||
        limit.rlim_cur != RLIM_INFINITY)
        return;
    uintptr_t from = move_break(0), to = (uintptr_t)p3_round_up(from, UINT64_C(1) << BREAK_SHIFT);
    if (from == 0 || to <= from || move_break(to) != to)
        return;
    uintptr_t gap = (uintptr_t)p3_round_up(from, (uint64_t)sysconf(_SC_PAGESIZE));
    if (gap < to)
        munmap((void *)gap, to - gap);
}

#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#endif

#ifndef SANITIZED
static void align(void) {
    struct p3_quiet before = p3_enter();
    p3_align_break();
    p3_leave(before);
}

/* Before the constructors of shared libraries, of which libstdc++'s allocates. Linkers refuse this section
 * in a shared library, for which objects are compiled with -fPIC. */
#if !defined __PIC__ || defined __PIE__
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = align;
#endif
__attribute__((section(".init_array.00000"), used)) static void (*const first)(void) = align;
#endif

/* Far from heap, libraries and stack, where mappings go that ask for this. Several runtimes in one process
 * begin at different places. */
static uintptr_t wanted(uint64_t size) {
#if UINTPTR_MAX > UINT32_MAX && !defined SANITIZED
    static uintptr_t next;
    if (next == 0) {
        uintptr_t none = 0, mine = (uintptr_t)&next >> 12 & 0xff;
        __atomic_compare_exchange_n(&next, &none, (uintptr_t)1 << 45 | mine << 36, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
    }
    return __atomic_fetch_add(&next, p3_round_up(size, 1 << 16), __ATOMIC_RELAXED);
#else
    (void)size;
    return 0;
#endif
}

static void *map_at(uintptr_t hint, uint64_t size) {
    void *base = mmap((void *)hint, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

void *p3_map(uint64_t size) {
    for (int i = 0; i < 4; i++) {
        uintptr_t hint = wanted(size);
        void *base = map_at(hint, size);
        if (base == NULL || hint == 0 || base == (void *)hint)
            return base;
        munmap(base, size);
    }
    return map_at(0, size);
}

/* Sanitizers replace mmap, and know nothing of addresses so far from what is theirs. */
static void *map_raw(void *base, uint64_t size, int flags, int fd, uint64_t offset) {
#ifdef SYS_mmap
    return (void *)syscall(SYS_mmap, base, size, PROT_READ | PROT_WRITE, flags, fd, offset);
#else
    return mmap(base, size, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
#endif
}

void p3_unmap_at(void *base, uint64_t size) { syscall(SYS_munmap, base, size); }

/* Older kernels take the flag for none, and the address for a wish. */
int p3_map_at(void *base, uint64_t size) {
    enum { FIXED_NOREPLACE = 0x100000 };
    void *there = map_raw(base, size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | FIXED_NOREPLACE, -1, 0);
    if (there != MAP_FAILED && there != base)
        p3_unmap_at(there, size);
    return there == base;
}

int p3_map_over(void *base, uint64_t size) {
    return map_raw(base, size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == base;
}

/* What is next to a count says nothing of what is counted next: the kernel is not to read ahead, which is megabytes for
 * each page on some machines. */
int p3_map_file(void *base, uint64_t size, int fd, uint64_t offset) {
    void *at = map_raw(base, size, MAP_SHARED | MAP_FIXED, fd, offset);
    if (at == MAP_FAILED)
        return errno;
    madvise(at, size, MADV_RANDOM);
    return 0;
}

/* Where something else is, over what p3_map finds. */
void *p3_map_of_file(uint64_t size, int fd, uint64_t offset) {
    uintptr_t hint = wanted(size);
    void *base = hint == 0 ? MAP_FAILED : mmap((void *)hint, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (base == (void *)hint)
        return base;
    if (base != MAP_FAILED)
        munmap(base, size);
    if ((base = p3_map(size)) == NULL)
        errno = ENOMEM;
    else if ((errno = p3_map_file(base, size, fd, offset)) != 0) {
        munmap(base, size);
        base = NULL;
    }
    return base;
}
