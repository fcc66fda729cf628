// SPDX-License-Identifier: MIT OR Apache-2.0
/* Whether the process ever had a second thread: plain increments of two threads at once lose counts.
 *
 * Calls: p3_quiet.c.
 * In signal handlers: p3_threads_flags, p3_threads_seen; the rest in constructors, a forked child, at exit, and where a
 * thread is started.
 *
 * A process that is killed says nothing at its end, so the flag is set in the profile before a thread begins. For that
 * the program's pthread_create and thrd_create are ours, where it is known that the C library is a shared one (P3_DYNAMIC):
 * C++, Rust and OpenMP call them. They are weak, so that a program's own, and a sanitizer's, come first. Linked statically
 * they would be the only ones; of a library they may be hidden, or come too late. There, and for threads that the C library
 * starts itself (SIGEV_THREAD), what it knows at the end has to do. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>

/* glibc's; it never was true again once there was a thread. */
extern char __libc_single_threaded __attribute__((weak));

/* Of the profile's header; NULL: there is no profile. */
static uint32_t *flags;
/* Which of them this process set, and may take back. */
static uint32_t own;
/* There was a second thread. */
static int seen;
/* Starts of threads are seen. */
static int watched;
/* The C library would know of a second thread: before, it knew of none. */
static int libc_knows;
/* How many threads the library of OpenMP started, and whether others were started. */
static uint64_t team;
static int has_others;

static int is_single(void) { return &__libc_single_threaded != NULL && __libc_single_threaded; }

void p3_threads_seen(void) {
    if (__atomic_exchange_n(&seen, 1, __ATOMIC_SEQ_CST) != 0)
        return;
    uint32_t *to = __atomic_load_n(&flags, __ATOMIC_SEQ_CST);
    if (to != NULL)
        __atomic_fetch_or(to, P3_RAW_THREADS, __ATOMIC_RELAXED);
}

#ifdef __GLIBC__ /* in older ones, threads and dlsym are in libraries that need not be there */
#define HAS_ALL __GLIBC_PREREQ(2, 34)
#else
#define HAS_ALL 1
#endif

#if defined P3_DYNAMIC && HAS_ALL && (!defined __PIC__ || defined __PIE__)

/* Without it there is no shared C library, whatever we were told. */
#pragma weak dlsym
/* Of a sanitizer in the program, which has to come before the C library's. */
typedef int p3_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern p3_create __interceptor_pthread_create __attribute__((weak));
typedef int p3_start(unsigned long *, int (*)(void *), void *);

/* The library of OpenMP, libgomp or libomp: where its code is. */
static uintptr_t openmp_begin, openmp_end;
static int (*openmp_is_parallel)(void);

static int find_code(struct dl_phdr_info *object, size_t size, void *address) {
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type != PT_LOAD || (uintptr_t)address < begin || (uintptr_t)address >= end)
            continue;
        openmp_begin = begin;
        openmp_end = end;
        return 1;
    }
    return 0;
}

/* Once, when the first thread starts: a library that is loaded later is not known. */
static void find_openmp(void) {
    void *is_parallel = &dlsym != NULL ? dlsym(RTLD_DEFAULT, "omp_in_parallel") : NULL;
    if (is_parallel != NULL && dl_iterate_phdr(find_code, is_parallel) != 0)
        openmp_is_parallel = (int (*)(void))(uintptr_t)is_parallel;
}

/* A thread is about to run `start`. */
static void note_start(uintptr_t start) {
    if (start >= openmp_begin && start < openmp_end)
        __atomic_fetch_add(&team, 1, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&has_others, 1, __ATOMIC_RELAXED);
    p3_threads_seen();
}

/* What the name means behind this program; 0, and a line on stderr: nothing. */
static uintptr_t find_next(const char *name) {
    struct p3_quiet before = p3_enter();
    uintptr_t next = &dlsym != NULL ? (uintptr_t)dlsym(RTLD_NEXT, name) : 0;
    if (next == 0)
        p3_complain(name, "not found; the copy was linked statically in a way that was not noticed: use LDFLAGS=-static", 0);
    p3_leave(before);
    return next;
}

static int create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    static p3_create *next;
    p3_create *create = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (create == NULL) {
        find_openmp();
        create = &__interceptor_pthread_create != NULL ? &__interceptor_pthread_create : (p3_create *)find_next("pthread_create");
        __atomic_store_n(&next, create, __ATOMIC_RELAXED);
    }
    note_start((uintptr_t)start);
    return create != NULL ? create(thread, attributes, start, argument) : EAGAIN;
}
extern p3_create pthread_create __attribute__((weak, alias("create_thread")));

/* Of C11. The type of a thread, and the number for an error (glibc's and musl's), are as threads.h has them. */
static int start_thread(unsigned long *thread, int (*start)(void *), void *argument) {
    enum { ERROR = 2 };
    static p3_start *next;
    p3_start *create = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (create == NULL) {
        create = (p3_start *)find_next("thrd_create");
        __atomic_store_n(&next, create, __ATOMIC_RELAXED);
    }
    note_start(0);
    return create != NULL ? create(thread, start, argument) : ERROR;
}
extern p3_start thrd_create __attribute__((weak, alias("start_thread")));

/* A version script may hide ours from libraries, and a library that is loaded before may have its own. */
static int is_watched(void) {
    return &dlsym != NULL && (uintptr_t)dlsym(RTLD_DEFAULT, "pthread_create") == (uintptr_t)create_thread &&
           (uintptr_t)dlsym(RTLD_DEFAULT, "thrd_create") == (uintptr_t)start_thread;
}

/* A thread of a team runs code of the program while a parallel region is, and whoever is behind that region is in none. Threads
 * that are not there any more, or that nobody saw start, are too few or too many. */
int p3_threads_are_parked(uint64_t others) {
    return watched && !has_others && others == team && openmp_is_parallel != NULL && !openmp_is_parallel();
}

#else

static int is_watched(void) { return 0; }
int p3_threads_are_parked(uint64_t others) { return (void)others, 0; }

#endif

void p3_threads_start(void) {
    watched = is_watched();
    libc_knows = is_single();
    /* A library that a program with threads loads. */
    if (&__libc_single_threaded != NULL && !libc_knows)
        p3_threads_seen();
}

uint32_t p3_threads_flags(int all_counted) {
    if (__atomic_load_n(&seen, __ATOMIC_SEQ_CST))
        return P3_RAW_THREADS;
    if (all_counted && libc_knows && is_single())
        return 0;
    return P3_RAW_INSIDE | (watched ? 0 : P3_RAW_UNSEEN);
}

void p3_threads_watch(uint32_t *of_header) {
    __atomic_store_n(&flags, of_header, __ATOMIC_SEQ_CST);
    if (of_header == NULL)
        return;
    uint32_t more = p3_threads_flags(0);
    own = more & ~__atomic_fetch_or(of_header, more, __ATOMIC_SEQ_CST);
}

void p3_threads_end(int is_alone) {
    if (libc_knows ? !is_single() : !is_alone)
        p3_threads_seen();
    uint32_t *of = __atomic_load_n(&flags, __ATOMIC_SEQ_CST);
    if (of != NULL)
        __atomic_fetch_and(of, ~(own & ~p3_threads_flags(1)), __ATOMIC_RELAXED);
}

/* The child's only thread is its first. What the C library knows may still be of its parent's. */
void p3_threads_forked(void) {
    __atomic_store_n(&flags, NULL, __ATOMIC_SEQ_CST);
    own = 0;
    __atomic_store_n(&seen, 0, __ATOMIC_SEQ_CST);
    team = 0;
    has_others = 0;
    libc_knows = is_single();
}
