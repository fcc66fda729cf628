// SPDX-License-Identifier: MIT OR Apache-2.0
/* Shadow profiling, between its own files. They are in a program of that scheme alone, on top of the rest of the
 * runtime, and in layers as well: each calls only those above it in this header, and p3_shadow.c, which rewritten
 * modules call, is called by none.
 *
 * A timer's signal forks a *shadow*. It jumps over to functions that count, does to the system nothing that anyone
 * could notice, and ends after a *burst*, whose counts it leaves in the profile as one record.
 *
 *   when                  calls                                        safe, because
 *   constructors          mmap, sigaction, timer_create, timer_settime, when no thread runs yet
 *                         sched_getaffinity, getenv
 *   the timer's signal    clone, wait4, kill, lseek, clock_gettime,    system calls without state of libc
 *                         open, read, close, timer_settime
 *   a shadow              system calls by p3_shadow_call alone, after  its only thread, and memory of its own
 *                         its first steps: those that nothing but it
 *                         can notice, and of the profile's file
 *   exit                  kill, wait4, timer_delete                    no code of ours runs afterwards */
#ifndef P3_SHADOW_H
#define P3_SHADOW_H

#include "p3_internal.h"

#include <time.h>

#if defined(__x86_64__) && defined(__LP64__) && defined(__linux__)
#define P3_SHADOWS 1
#endif

/* p3_budget.c: the instructions that are left. Counting functions take from it what each block of theirs has, and read
 * the byte at `left + (left < 0 ? -4096 : 0)`: in a shadow the page there cannot be read. */
struct p3_burst {
    unsigned char guard[4096];
    int64_t left;
    unsigned char rest[4088];
};
P3_HIDDEN extern struct p3_burst __p3_burst;

#ifdef P3_SHADOWS

/* Shadows at a time, at the most. */
enum { P3_SHADOWS_MOST = 64 };
/* Descriptors whose offsets shadows know, and those that they know anything of. */
enum { P3_OFFSETS = 64, P3_DESCRIPTORS = 1024 };
/* Numbers of system calls below this are told apart. */
enum { P3_CALLS = 512 };

/* A system call by a function's arguments: its number and six more, as the kernel takes them. In assembler code. */
#define P3_SYSTEM_CALL                                                                                                                   \
    "    mov %rdi, %rax\n"                                                                                                               \
    "    mov %rsi, %rdi\n"                                                                                                               \
    "    mov %rdx, %rsi\n"                                                                                                               \
    "    mov %rcx, %rdx\n"                                                                                                               \
    "    mov %r8, %r10\n"                                                                                                                \
    "    mov %r9, %r8\n"                                                                                                                 \
    "    mov 8(%rsp), %r9\n"                                                                                                             \
    "    syscall\n"

/* p3_shadow_system.c: system calls past libc, from one place: what the filter of a shadow lets pass. */
P3_HIDDEN long p3_shadow_call(long number, long a, long b, long c, long d, long e, long f);
/* Where the processor is when the system is called from there. */
P3_HIDDEN extern const char p3_shadow_called[];
/* Returns from a signal handler. */
P3_HIDDEN void p3_shadow_return(void);
#define P3_CALL(number, a, b, c, d, e, f) \
    p3_shadow_call((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* What all shadows of a process, and the process, see: a block of the profile while there is one. */
struct p3_shadow_shared {
    struct p3_raw_block block;
    struct p3_raw_shadows counts;
};

/* What a shadow is to do. */
struct p3_shadow_task {
    struct p3_module *modules;
    struct p3_raw_shadows *counts; /* shared; NULL: no one wants to know */
    int64_t burst, asked; /* in instructions: this one, and as long as is asked for at least */
    uint64_t period; /* what a burst stands for: nanoseconds of the program's processor time, on average, between one and the next */
    uint64_t limit; /* in nanoseconds */
    int signal; /* by which the parent ends it */
    int file; /* a descriptor of the profile, above all whose offsets are known */
    int shares_table; /* whether a shadow shares its parent's table of descriptors until it has one of its own */
    struct p3_raw_header *header; /* its header, shared */
    int32_t flags[P3_OFFSETS]; /* by descriptor, as fcntl tells them */
    int64_t offsets[P3_OFFSETS]; /* by descriptor, before the fork; negative: it has none, for that reason */
    int parent, thread, above; /* what the program is told by getpid, gettid, getppid */
};

/* p3_shadow_ask.c: what is asked of the system. */
enum { P3_SHADOW_PAGE = 4096, P3_SHADOW_BREAKPOINT = 0xcc };
/* Nanoseconds. */
P3_HIDDEN uint64_t p3_shadow_clock(clockid_t clock);
/* How many the process has had that need no disk. */
P3_HIDDEN uint64_t p3_shadow_faults(void);
/* Writes to each of `n` pages: nanoseconds of processor time for one. */
P3_HIDDEN uint64_t p3_shadow_write_to(volatile char *pages, unsigned n);
/* A file's beginning as a string, and how long that is; -1 where it cannot be read. */
P3_HIDDEN long p3_shadow_read(const char *path, char *text, long room);

/* p3_shadow_maps.c: what memory a process has. */
/* A line of /proc/self/maps. */
struct p3_shadow_mapping {
    uint64_t begin, end;
    int shared, writable, readable, device;
};
/* Shows all of them, until `see` gives something that is not 0: that, or P3_END_MEMORY. */
P3_HIDDEN uint32_t p3_shadow_mappings(uint32_t (*see)(void *seen, const struct p3_shadow_mapping *m), void *seen);

/* p3_shadow_copies.c: pages that a shadow has copied by writing to them. */
enum { P3_SHADOW_COPIES = 1 << 16 };
struct p3_shadow_copies {
    uint64_t n, all; /* 0: there are more, or may be */
    struct {
        uint64_t begin, end;
    } of[P3_SHADOW_COPIES];
};
/* In a shadow: finds them, as far as the system tells and there is room. */
P3_HIDDEN void p3_shadow_copies_find(struct p3_shadow_copies *copies);
/* In its twin: copies them as well, as far as they were there before; 0 when there are more, or the system has no call
 * for that. */
P3_HIDDEN int p3_shadow_copies_make(const struct p3_shadow_copies *copies);

/* p3_shadow_patch.c: from native functions to those that count. */
/* A place in native code, behind the header of a loop, where an activation can go on in a function that counts. */
struct p3_shadow_site {
    uint64_t at; /* its address */
    uint64_t way; /* where control goes to be counted */
    uint64_t header; /* the number of the header, which no other of the program has */
    struct p3_passed *passed; /* what is noted when it comes by */
    uint8_t byte; /* what the breakpoint is written over */
};
/* The one at an address; NULL. */
P3_HIDDEN const struct p3_shadow_site *p3_shadow_site(uint64_t at);
/* Where control goes from a breakpoint at the entry of a function, which becomes a jump there if it can; 0 when it is
 * none. */
P3_HIDDEN uint64_t p3_shadow_room(uint64_t at);
/* Makes code writable; 0 when that cannot be. */
P3_HIDDEN int p3_shadow_open(uint64_t address, uint64_t size);
/* Patches all code to be counted; 0 when it cannot be written. `at`: where the program was interrupted. */
P3_HIDDEN int p3_shadow_patch(const struct p3_module *modules, const void *at);
/* Whether there is anything to patch. */
P3_HIDDEN int p3_shadow_any(const struct p3_module *modules);
/* The room before a function, sixteen nops; NULL when there is none: it was patched already, or is somebody else's. */
P3_HIDDEN uint8_t *p3_shadow_room_of(uint8_t *native);
/* Whether a place at a loop is there. */
P3_HIDDEN int p3_shadow_is_site_within(const uint8_t *begin, const uint8_t *end);
/* A place by which native code tells how much of a burst is over: `times` times it came by its address, the last time
 * when so many instructions were left. */
struct p3_shadow_mark {
    uint64_t at, times;
    int64_t left;
    const struct p3_passed *passed;
    int is_entry; /* of a function */
    int is_counted; /* without a breakpoint, if that can be */
};
enum { P3_SHADOW_MARKS = 16 };
struct p3_shadow_marks {
    uint64_t n;
    struct p3_shadow_mark of[P3_SHADOW_MARKS];
};
/* Those that serve best, best first, in a shadow whose burst is over. The burst took `nanoseconds` to count and the
 * instructions from `begin` down to `end`. What is lost is what lies behind the last time, and for each time what is
 * not known of it: ten microseconds of a breakpoint, which takes about fifteen; a nanosecond where passes are counted.
 * It is a quarter of all at the most. */
P3_HIDDEN void p3_shadow_find_marks(struct p3_shadow_marks *marks, int64_t begin, int64_t end, uint64_t nanoseconds);

/* p3_shadow_passes.c: counting how often native code comes by a place, without breakpoints. */
/* In a twin: makes the code at `at` count, which is that of an entry with `room` or of a loop (NULL), and end at a
 * breakpoint after so many times: the address of that, or 0 where the code there cannot be moved. `interrupted`: where
 * the program goes on. */
P3_HIDDEN uint64_t p3_shadow_count_passes(uint8_t *at, uint8_t *room, uint64_t times, const uint8_t *interrupted);

/* p3_shadow_twin.c: how long a burst takes the program itself. Counting slows code down, here more and there less. So a
 * shadow forks a *twin* before it counts, which waits until that is over, runs native code to a place that the shadow
 * knows, and tells its processor time. */
/* In the program, once: memory that is there. */
P3_HIDDEN void p3_shadow_twin_prepare(void);
/* Forks the twin: 1 in the twin, when it is its turn; 0 in the shadow. */
P3_HIDDEN int p3_shadow_twin_fork(void);
/* In a twin: makes that place known to it, by a breakpoint or a count, and finds out what that takes each time; 0 when
 * code cannot be written. `interrupted`: where the program goes on. */
P3_HIDDEN int p3_shadow_twin_mark(const uint8_t *interrupted);
/* In a twin: the clock starts. */
P3_HIDDEN void p3_shadow_twin_start(void);
/* A breakpoint, or the one instruction behind it: 1 when it was the twin's. `registers`: those of `ucontext_t`. */
P3_HIDDEN int p3_shadow_twin_break(long long *registers);
/* In a twin: ends the process, which tells nothing. It does nothing in a shadow. */
P3_HIDDEN void p3_shadow_twin_end(void);
/* In a shadow: there is none any more. Who ends with one leaves it to whoever reaps orphans, which may be the
 * program. */
P3_HIDDEN void p3_shadow_twin_drop(void);
/* In a shadow whose burst is over: lets the twin run to the first of the marks that it can make out, for so many
 * nanoseconds at the most; what it took, or 0. `used`: which one. */
P3_HIDDEN uint64_t p3_shadow_twin_ask(const struct p3_shadow_marks *marks, uint64_t patience, uint64_t *used);

/* p3_shadow_spare.c: memory. */
/* In the program, before the first one: looks for limits of its control groups. */
P3_HIDDEN void p3_shadow_spare_find(void);
/* Whether there is room for a shadow. */
P3_HIDDEN int p3_shadow_spare(void);
/* Pages of the process that are in memory: all of them, and those that are no file's, which writing copies behind a
 * fork; 0 where that cannot be known. */
struct p3_shadow_pages {
    uint64_t all, own;
};
P3_HIDDEN struct p3_shadow_pages p3_shadow_pages(void);

/* p3_shadow_cost.c: what shadows cost the program, in nanoseconds of its processor time. */
/* In the program, before the first one, and in a child of it. */
P3_HIDDEN void p3_shadow_cost_start(void);
/* Looks what the last one has cost so far: that of all. */
P3_HIDDEN uint64_t p3_shadow_cost_look(void);
/* Of one, on average, as it was when that was looked at; before the first one a guess, by the pages that there are. */
P3_HIDDEN double p3_shadow_cost(void);
/* The handler of the timer's signal ends, which began then by the processor time of the thread. */
P3_HIDDEN void p3_shadow_cost_signal(uint64_t began);
/* One was forked. */
P3_HIDDEN void p3_shadow_cost_fork(void);

/* p3_shadow_record.c: what a burst has counted. */
/* Counts that a system call was met, and what was done about it: P3_CALL_… */
P3_HIDDEN void p3_shadow_met(long number, uint32_t treatment);
/* Hands the record over and ends the process. `detail`: a signal, or the number of a system call. */
P3_HIDDEN void p3_shadow_end(uint32_t why, uint32_t detail) __attribute__((noreturn));
P3_HIDDEN void p3_shadow_record_start(const struct p3_shadow_task *task);
/* All is ready: what is timed from here on is the burst's. */
P3_HIDDEN void p3_shadow_clock_start(void);

/* p3_shadow_jumps.c: jumps to addresses of blocks, for rewritten modules. */

/* p3_shadow_memory.c: what of its memory a shadow shares, and what it has to itself. */
/* Counters of its own, from zero; mappings that are shared become private. 0, or P3_END_… */
P3_HIDDEN uint32_t p3_shadow_own_memory(const struct p3_shadow_task *task);
/* Whether part of a range is still shared. */
P3_HIDDEN int p3_shadow_is_shared(uint64_t address, uint64_t size);

/* p3_shadow_files.c: files as a shadow sees them. */
/* In a shadow, before anything else: a table of descriptors of its own, in which nothing is open that others would
 * notice. */
P3_HIDDEN void p3_shadow_let_go(const struct p3_shadow_task *task);
/* In the program: whether shadows can share its table until then, as far as the system goes, and as it is now. */
P3_HIDDEN int p3_shadow_can_share(void);
P3_HIDDEN int p3_shadow_can_be_seen(void);
/* Whether a descriptor stands for what the shadow has let go. */
P3_HIDDEN int p3_shadow_is_let_go(long fd);
/* Whether memory can be mapped from it; no file (-1) can. */
P3_HIDDEN int p3_shadow_can_map(long fd);
P3_HIDDEN void p3_shadow_files_start(const struct p3_shadow_task *task);
/* Imitates a system call about files; 0 when it is none, or cannot be: else sets `*result` and `*treatment`. */
P3_HIDDEN int p3_shadow_file_call(const long *call, long *result, uint32_t *treatment);

/* p3_shadow_calls.c: system calls of a shadow. */
P3_HIDDEN void p3_shadow_calls_start(const struct p3_shadow_task *task);
/* Imitates one, or ends the burst. `call`: its number and six arguments. */
P3_HIDDEN long p3_shadow_imitate(const long *call);
/* From now on every system call but those of p3_shadow_call traps; 0 when the system has no filters. */
P3_HIDDEN int p3_shadow_filter(void);

/* p3_shadow_watch.c: calls of the program by which it would feel shadows, or end them. */
/* Why shadows end for good while the program runs. */
enum p3_shadow_ended { P3_SHADOW_GOES_ON, P3_SHADOW_FILTERED, P3_SHADOW_SIGNAL_TAKEN };
/* In the program: the timer's signal, which must have a handler by now, and what is called when shadows have to end,
 * before the program's call is made. */
P3_HIDDEN void p3_shadow_watch_start(int signal, void (*ended)(enum p3_shadow_ended why));
/* Shadows have ended: what the program says of masks is done. */
P3_HIDDEN void p3_shadow_watch_end(void);
/* Whether this thread has the timer's signal blocked, as the program believes. */
P3_HIDDEN int p3_shadow_watch_hides(void);
/* Whoever makes a system call by its number says so first. */
P3_HIDDEN void p3_shadow_watch_call(long number, long a, long b, long c);

/* p3_shadow_knobs.c: what P3_SHADOW says. */
struct p3_shadow_knobs {
    double load;
    double cost; /* of 1 */
    int64_t burst, longest; /* in instructions */
    uint64_t limit; /* in nanoseconds */
    int signal;
    int off;
};
/* NAME=NUMBER, with commas, or off; 0 when it is neither. */
P3_HIDDEN int p3_shadow_read_knobs(struct p3_shadow_knobs *knobs, const char *text);

/* p3_shadow_child.c: a shadow's life. */
/* The caller, in a signal handler of a forked process, becomes a shadow. `context`: what the handler returns to. */
P3_HIDDEN void p3_shadow_become(const struct p3_shadow_task *task, void *context);

#endif
#endif
