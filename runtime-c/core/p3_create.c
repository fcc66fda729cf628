// SPDX-License-Identifier: MIT OR Apache-2.0
/* Where threads are started: each gets counters of its own, or it is noted that it has none.
 *
 * Calls: p3_quiet.c, p3_shift.c, p3_threads.c.
 * In signal handlers: none of it.
 *
 * The program's pthread_create and thrd_create are ours, where it is known that the C library is a shared one
 * (P3_DYNAMIC): C++, Rust and OpenMP call them. So are functions that may have the C library start a thread by itself
 * (SIGEV_THREAD). They are weak, so that a program's own come first; a sanitizer's are called by ours (P3_SANITIZED).
 * In a program that is linked statically, the linker leads calls of the first two here (P3_WRAPPED). A library has none
 * of this: its functions may be hidden, or come too late. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#ifdef __GLIBC__ /* in older ones, threads and dlsym are in libraries that need not be there */
#define HAS_ALL __GLIBC_PREREQ(2, 34)
#else
#define HAS_ALL 1
#endif

#if (defined P3_DYNAMIC || defined P3_WRAPPED) && HAS_ALL && (!defined __PIC__ || defined __PIE__)

typedef int p3_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int p3_start(unsigned long *, int (*)(void *), void *);

/* How many threads the library of OpenMP started, and whether others were started. */
static uint64_t team;
static int has_others;
/* The library of OpenMP, libgomp or libomp: where its code is. */
static uintptr_t openmp_begin, openmp_end;
static int (*openmp_is_parallel)(void);

#ifdef P3_DYNAMIC

/* Without it there is no shared C library, whatever we were told. */
#pragma weak dlsym
/* Of a sanitizer in the program, which has to come before the C library's. */
extern p3_create __interceptor_pthread_create __attribute__((weak));

static int find_code(struct dl_phdr_info *object, size_t size, void *address) {
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type != PT_LOAD || (uintptr_t)address < begin || (uintptr_t)address >= end)
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

/* What the name means behind this program; 0, and a line on stderr: nothing. */
static uintptr_t find_next(const char *name) {
    struct p3_quiet before = p3_enter();
    uintptr_t next = &dlsym != NULL ? (uintptr_t)dlsym(RTLD_NEXT, name) : 0;
    if (next == 0)
        p3_complain(name, "not found; the copy was linked statically in a way that was not noticed: use LDFLAGS=-static", 0);
    p3_leave(before);
    return next;
}

/* The next definition of a function, looked up once. */
static uintptr_t find_once(const char *name, uintptr_t *known) {
    uintptr_t next = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (next == 0) {
        next = find_next(name);
        __atomic_store_n(known, next, __ATOMIC_RELAXED);
    }
    return next;
}
#define NEXT(function, known) find_once(#function, known)
#ifdef P3_SANITIZED /* its own are weak, and come earlier */
#define OURS(function, of) __typeof__(of) function __attribute__((alias(#of)))
#else
#define OURS(function, of) __typeof__(of) function __attribute__((weak, alias(#of)))
#endif

static p3_create *find_create(uintptr_t *known) {
    if (__atomic_load_n(known, __ATOMIC_RELAXED) == 0)
        find_openmp();
    return &__interceptor_pthread_create != NULL ? &__interceptor_pthread_create : (p3_create *)NEXT(pthread_create, known);
}

#else

extern p3_create __real_pthread_create;
extern p3_start __real_thrd_create;

#define NEXT(function, known) (*(known) = (uintptr_t)&__real_##function)
#define OURS(function, of) __typeof__(of) __wrap_##function __attribute__((alias(#of)))

static p3_create *find_create(uintptr_t *known) { return (p3_create *)NEXT(pthread_create, known); }

#endif

/* Constructors of the program's modules: a section of which the linker says where it begins and ends. */
typedef void p3_begin(void);
extern p3_begin *const __start_p3_begin[] __attribute__((weak, visibility("hidden")));
extern p3_begin *const __stop_p3_begin[] __attribute__((weak, visibility("hidden")));

/* A library's constructor starts a thread, before the program's constructors run: modules register at once, so that the
 * thread has counters of its own. Those that are registered already stay as they are. */
static void begin_early(void) {
    static int has_begun;
    if (__atomic_exchange_n(&has_begun, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    for (p3_begin *const *each = __start_p3_begin; each != __stop_p3_begin; each++)
        (*each)();
}

/* A thread is about to run `start`. */
static void note_start(uintptr_t start) {
    if (start >= openmp_begin && start < openmp_end)
        __atomic_fetch_add(&team, 1, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&has_others, 1, __ATOMIC_RELAXED);
}

static void set_mask(struct p3_shift *shift, const sigset_t *mask) { memcpy(&shift->mask, mask, sizeof shift->mask); }

/* By which a thread is named; its creator may do that before the thread runs. */
static void note_handle(struct p3_shift *shift, uintptr_t thread) {
    __atomic_store_n(&shift->handle, thread, __ATOMIC_RELAXED);
}

/* A new thread has its creator's counters until it has its own: no handler of a signal counts before. */
static const struct p3_shift *begin(void *record) {
    struct p3_shift *shift = record;
    sigset_t mask;
    note_handle(shift, (uintptr_t)pthread_self());
    p3_shift_enter(shift);
    sigemptyset(&mask);
    memcpy(&mask, &shift->mask, sizeof shift->mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return shift;
}

static void *begin_thread(void *record) {
    const struct p3_shift *s = begin(record);
    return ((void *(*)(void *))s->start)(s->argument);
}

static int begin_c11_thread(void *record) {
    const struct p3_shift *s = begin(record);
    return ((int (*)(void *))s->start)(s->argument);
}

/* The thread will count where another one does. */
static void note_stranger(void) {
    p3_threads_seen();
    p3_shift_note_stranger();
}

/* Signals are blocked from here until release(). NULL: the thread will count where its creator does. */
static struct p3_shift *take(uintptr_t start, void *argument, sigset_t *mask) {
    note_start(start);
    if (!p3_shift_is_on())
        begin_early();
    if (!p3_shift_is_on()) {
        p3_threads_seen();
        return NULL;
    }
    sigset_t every;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, mask);
    struct p3_quiet before = p3_enter();
    struct p3_shift *shift = p3_shift_take(start);
    p3_leave(before);
    if (shift == NULL) {
        note_stranger();
        pthread_sigmask(SIG_SETMASK, mask, NULL);
        return NULL;
    }
    shift->start = start;
    shift->argument = argument;
    set_mask(shift, mask);
    return shift;
}

/* `thread`: its handle; 0: it does not start. */
static void release(struct p3_shift *shift, uintptr_t thread, const sigset_t *mask) {
    if (thread == 0)
        p3_shift_drop(shift);
    else if (!p3_shift_is_entered(shift))
        note_handle(shift, thread);
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* Whose attributes are changed for a moment. */
static int busy;

#if defined __GLIBC__ && __GLIBC_PREREQ(2, 32)

/* With a mask in its attributes a thread would begin with that one. One at a time: the attributes may be others' as
 * well. */
static int create_masked(p3_create *create, pthread_t *thread, const pthread_attr_t *attributes, struct p3_shift *shift) {
    sigset_t every, mask;
    sigfillset(&every);
    while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
    if (pthread_attr_getsigmask_np(attributes, &mask) != 0) {
        __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
        return create(thread, attributes, begin_thread, shift);
    }
    set_mask(shift, &mask);
    pthread_attr_setsigmask_np((pthread_attr_t *)(uintptr_t)attributes, &every);
    int failed = create(thread, attributes, begin_thread, shift);
    pthread_attr_setsigmask_np((pthread_attr_t *)(uintptr_t)attributes, &mask);
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    return failed;
}

/* The attributes of threads that are given none may have a mask as well. */
static int create_by_default(p3_create *create, pthread_t *thread, struct p3_shift *shift) {
    pthread_attr_t defaults;
    sigset_t mask;
    if (pthread_getattr_default_np(&defaults) != 0)
        return create(thread, NULL, begin_thread, shift);
    int has_mask = pthread_attr_getsigmask_np(&defaults, &mask) == 0;
    int failed = has_mask ? create_masked(create, thread, &defaults, shift) : create(thread, NULL, begin_thread, shift);
    pthread_attr_destroy(&defaults);
    return failed;
}

#else

static int create_masked(p3_create *create, pthread_t *thread, const pthread_attr_t *attributes, struct p3_shift *shift) {
    return create(thread, attributes, begin_thread, shift);
}

static int create_by_default(p3_create *create, pthread_t *thread, struct p3_shift *shift) {
    return create(thread, NULL, begin_thread, shift);
}

#endif

static int create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    static uintptr_t known;
    p3_create *create = find_create(&known);
    if (create == NULL)
        return EAGAIN;
    sigset_t mask;
    struct p3_shift *shift = take((uintptr_t)start, argument, &mask);
    if (shift == NULL)
        return create(thread, attributes, start, argument);
    int failed = attributes == NULL ? create_by_default(create, thread, shift)
                                    : create_masked(create, thread, attributes, shift);
    release(shift, failed ? 0 : (uintptr_t)*thread, &mask);
    return failed;
}
extern OURS(pthread_create, create_thread);

/* Of C11. The type of a thread, and the numbers for success and an error (glibc's and musl's), are as threads.h has
 * them. */
static int start_thread(unsigned long *thread, int (*start)(void *), void *argument) {
    enum { SUCCESS = 0, ERROR = 2 };
    static uintptr_t known;
    p3_start *create = (p3_start *)NEXT(thrd_create, &known);
    if (create == NULL)
        return ERROR;
    sigset_t mask;
    struct p3_shift *shift = take((uintptr_t)start, argument, &mask);
    if (shift == NULL)
        return create(thread, start, argument);
    int result = create(thread, begin_c11_thread, shift);
    release(shift, result == SUCCESS ? (uintptr_t)*thread : 0, &mask);
    return result;
}
extern OURS(thrd_create, start_thread);

/* A thread of a team runs code of the program while a parallel region is, and whoever is behind that region is in
 * none. Threads that are not there any more, or that nobody saw start, are too few or too many. */
int p3_create_are_parked(uint64_t others) {
    return !has_others && others == team && openmp_is_parallel != NULL && !openmp_is_parallel() &&
           p3_create_watched() != P3_UNWATCHED;
}

#ifdef P3_DYNAMIC

/* Threads that the C library starts itself have their creator's counters. */
static void note_event(const struct sigevent *event) {
    if (event != NULL && event->sigev_notify == SIGEV_THREAD)
        note_stranger();
}

/* `mine` is a function of the C library that takes `event`. */
#define NOTES_EVENT(function, mine, parameters, arguments, event)           \
    static int mine parameters {                                            \
        typedef int type parameters;                                        \
        static uintptr_t known;                                             \
        type *next = (type *)NEXT(function, &known);                        \
        note_event(event);                                                  \
        return next != NULL ? next arguments : (errno = EAGAIN, -1);        \
    }                                                                       \
    extern OURS(function, mine)

NOTES_EVENT(timer_create, create_timer, (clockid_t clock, struct sigevent *event, timer_t *timer), (clock, event, timer), event);
NOTES_EVENT(mq_notify, notify_of_queue, (mqd_t queue, const struct sigevent *event), (queue, event), event);
NOTES_EVENT(aio_read, read_later, (struct aiocb * a), (a), &a->aio_sigevent);
NOTES_EVENT(aio_write, write_later, (struct aiocb * a), (a), &a->aio_sigevent);
NOTES_EVENT(aio_fsync, sync_later, (int how, struct aiocb *a), (how, a), &a->aio_sigevent);
NOTES_EVENT(lio_listio, do_list, (int mode, struct aiocb *const list[], int n, struct sigevent *event), (mode, list, n, event), event);
#ifdef __GLIBC__
NOTES_EVENT(aio_read64, read_later_64, (struct aiocb64 * a), (a), &a->aio_sigevent);
NOTES_EVENT(aio_write64, write_later_64, (struct aiocb64 * a), (a), &a->aio_sigevent);
NOTES_EVENT(aio_fsync64, sync_later_64, (int how, struct aiocb64 *a), (how, a), &a->aio_sigevent);
NOTES_EVENT(lio_listio64, do_list_64, (int mode, struct aiocb64 *const list[], int n, struct sigevent *event), (mode, list, n, event), event);
NOTES_EVENT(getaddrinfo_a, resolve, (int mode, struct gaicb *list[], int n, struct sigevent *event), (mode, list, n, event), event);
#endif

/* Threads are shown by the names that they take. */
static int name_thread(pthread_t thread, const char *name) {
    typedef int type(pthread_t, const char *);
    static uintptr_t known;
    type *next = (type *)NEXT(pthread_setname_np, &known);
    int failed = next != NULL ? next(thread, name) : ENOSYS;
    if (!failed)
        p3_shift_name((uintptr_t)thread, name);
    return failed;
}
extern OURS(pthread_setname_np, name_thread);

static int control_process(int option, ...) {
    typedef int type(int, unsigned long, unsigned long, unsigned long, unsigned long);
    static uintptr_t known;
    unsigned long a[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    type *next = (type *)NEXT(prctl, &known);
    int result = next != NULL ? next(option, a[0], a[1], a[2], a[3]) : (errno = ENOSYS, -1);
    if (option == PR_SET_NAME && result == 0)
        p3_shift_name_own((const char *)a[0]);
    return result;
}
extern OURS(prctl, control_process);

/* A version script may hide ours from libraries, and a library that is loaded before may have its own. */
static int is_ours(const char *name, uintptr_t function) { return &dlsym != NULL && (uintptr_t)dlsym(RTLD_DEFAULT, name) == function; }

enum p3_watched p3_create_watched(void) {
    int starts = is_ours("pthread_create", (uintptr_t)create_thread) && is_ours("thrd_create", (uintptr_t)start_thread);
    int events = is_ours("timer_create", (uintptr_t)create_timer) && is_ours("mq_notify", (uintptr_t)notify_of_queue);
    return !starts ? P3_UNWATCHED : events ? P3_ALL_WATCHED : P3_STARTS_WATCHED;
}

#else

/* Others would bring in much of the C library. */
enum p3_watched p3_create_watched(void) { return P3_STARTS_WATCHED; }

#endif

void p3_create_forked(void) {
    team = 0;
    has_others = 0;
    busy = 0;
}

#else

enum p3_watched p3_create_watched(void) { return P3_UNWATCHED; }
int p3_create_are_parked(uint64_t others) { return (void)others, 0; }
void p3_create_forked(void) {}

#endif
