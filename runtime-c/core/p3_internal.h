// SPDX-License-Identifier: MIT OR Apache-2.0
/* Between the runtime's own files, which are in layers: each calls only those above it in this header, and p3_table.c,
 * p3_subpath.c and p3_register.c, which rewritten modules call, are called by none.
 *
 * What is called when. The program must notice none of it: errno stays, no thread is cancelled in here
 * (p3_enter, p3_leave), no lock is waited for, nothing is allocated by malloc.
 *
 *   when                  calls                                        safe, because
 *   counting              none                                         a table whose level has room, an array
 *   counting, a table     mmap, munmap, madvise, fcntl (as a           system calls, async-signal-safe by POSIX
 *   grows                 duplicate), fstat, close, getrlimit,         or without state of libc; in a signal
 *                         fallocate; pwrite where there is no room     handler, while others count or grow
 *                         to reserve; fstatat, openat where the
 *                         descriptor is gone; pthread_setcancelstate
 *   sampling              none                                         recordings and the list have their room;
 *                                                                      whoever finds the list in use comes again
 *   sampling, a thread    mmap, munmap, gettid, tgkill (signal 0),     as when a table grows
 *   that did not yet      getpid, sigaltstack, pthread_setcancelstate
 *   a line on stderr      sigpending, pthread_sigmask, write,          once in a process for lost counts; the
 *                         sigtimedwait                                 write's own signals never arrive
 *   constructors          the above; getenv, getauxval, geteuid,       ours come first; getenv and atexit are
 *                         uname, getcwd, open, read, pread, flock,     called here alone, when no thread runs
 *                         kill (signal 0), getrandom, clock_gettime,   yet, or under the lock of dlopen
 *                         getpid, getppid, fstatat, mkdirat, linkat,
 *                         renameat, mknodat, unlinkat, fchmod,
 *                         fchmodat, sbrk, personality, pwritev,
 *                         pthread_atfork, atexit, dlsym
 *   a thread starts       dlsym, dl_iterate_phdr, once;                pthread_create does more itself
 *                         pthread_setcancelstate
 *   child of fork         those of a growing table; mremap, getpid,    the pattern, the arguments and the folder
 *                         getppid, getrandom, clock_gettime, geteuid,  were read by the parent's constructor;
 *                         fstatat, mkdirat, linkat, renameat,          whatever locks were held are not ours
 *                         mknodat, unlinkat, fchmod, fchmodat,
 *                         pwritev, open, pread; of a pool read, flock,
 *                         kill, getauxval
 *   p3_profile_reset,     those of a growing table; sigpending,        system calls; all signals are blocked, and one
 *   p3_profile_dump,      pthread_sigmask, write, fstatat, mkdirat,    thread does it at a time: others leave word
 *   the signal of         linkat, renameat, unlinkat, fchmod,          (p3_signal_hold)
 *   P3_SIGNAL             fchmodat, open, read, geteuid, pwritev
 *   exit                  none, where all is in the file and there     nothing is left to do but to count this
 *                         never was a second thread; else open, read   process as ended, which is a store
 *                         and close of /proc/self/stat, which tells
 *                         whether others run on; and where counts are
 *                         in memory those of p3_profile_dump
 *   dlclose               those of exit; munmap, fstat, close,         no code of ours runs afterwards: a
 *                         sigaction                                    library's runtime lets go of everything
 *
 * After seccomp's strict mode (or a filter that kills) only the first line and the end of a program without threads are possible. What
 * tables need at first is mapped by the constructor: two levels each, and P3_PROFILE_RESERVE MiB more. */
#ifndef P3_INTERNAL_H
#define P3_INTERNAL_H

#include "p3_abi.h"
#include "p3_format.h"

#include <stddef.h>
#include <string.h>
#include <sys/types.h>

enum { P3_PATH_MAX = 4096 }; /* in Linux; PATH_MAX is not in every libc */

/* Results beside 0 and an errno. */
enum { P3_SAID = -1, /* it failed, and a line on stderr said so */
       P3_OFF = -2, /* no profile is wanted */
       P3_APART = -3 /* processes of this program do not share files */ };

static inline uint64_t p3_round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

/* In a module's flags, the runtime's: it is in the list; its counters are those of an area before it. */
enum { P3_REGISTERED = 1 << 16, P3_IN_AREA = 1 << 17 };

/* Whether nothing of it is left to write: it counts in the profile, or its area has its counters. */
static inline int p3_is_kept(const struct p3_module *m) { return m->live || (m->flags & P3_IN_AREA) != 0; }

static inline int p3_is_same_program(const struct p3_module *a, const struct p3_module *b) {
    return memcmp(a->program, b->program, sizeof a->program) == 0 && a->copy == b->copy;
}

/* The bytes of what a module's profile says of it. */
static inline uint64_t p3_description_size(const struct p3_raw_block *block) {
    return sizeof *block + block->n_functions * sizeof(struct p3_raw_function);
}

/* The number of slots of a level of a hash table. */
static inline uint64_t p3_level_slots(unsigned level) { return (uint64_t)P3_FIRST_SLOTS << 2 * level; }

/* p3_crc.c: checksums. */
/* CRC-32 of what `crc` is of, 0 for nothing, and of `n` bytes more. */
P3_HIDDEN uint32_t p3_crc32(uint32_t crc, const void *data, size_t n);

/* p3_quiet.c: what the program must not notice. */
struct p3_quiet {
    int error;
    int cancel;
};
P3_HIDDEN struct p3_quiet p3_enter(void);
P3_HIDDEN void p3_leave(struct p3_quiet before);
/* One line on stderr: "p3: SUBJECT: PROBLEM", and ": " with what an errno means unless it is 0. */
P3_HIDDEN void p3_complain(const char *subject, const char *problem, int error);
/* Appends `text` at `at`; SIZE_MAX when it does not fit, or did not before. */
P3_HIDDEN size_t p3_append(char *out, size_t size, size_t at, const char *text);
P3_HIDDEN size_t p3_append_number(char *out, size_t size, size_t at, uint64_t number, unsigned base);

/* p3_threads.c: whether the process ever had two threads that count in one place. */
/* Whether the C library never had a second thread, as far as it tells. */
P3_HIDDEN int p3_threads_is_single(void);
/* Whose starts are seen: nobody's, the program's, those by the C library as well. */
enum p3_watched { P3_UNWATCHED, P3_STARTS_WATCHED, P3_ALL_WATCHED };
/* `others_are_known`: all threads that there are have counters of their own. */
P3_HIDDEN void p3_threads_start(enum p3_watched watched, int others_are_known);
/* There is a second thread, or is going to be, that counts where another one does. */
P3_HIDDEN void p3_threads_seen(void);
/* What is known of it, as flags of a header; `all_counted`: of what is counted so far, and not of what will be. */
P3_HIDDEN uint32_t p3_threads_flags(int all_counted);
/* From now on these, of the live profile's header, tell; NULL: there is none any more. */
P3_HIDDEN void p3_threads_watch(uint32_t *of_header);
/* The process ends normally; `is_alone`: in its only thread; `others_are_known` as above; `now`: whose starts
 * are seen, if these are more than at the start. */
P3_HIDDEN void p3_threads_end(int is_alone, int others_are_known, enum p3_watched now);
/* The caller is a forked child. */
P3_HIDDEN void p3_threads_forked(void);

/* p3_layout.c: addresses that copies have in common. */
/* Moves the program's break to a boundary that all copies share, before anything is allocated. */
P3_HIDDEN void p3_align_break(void);
/* Maps zeros where the program's own mappings do not go; NULL without memory. */
P3_HIDDEN void *p3_map(uint64_t size);
/* Maps zeros exactly there; 0: something else is there, or there is no memory. */
P3_HIDDEN int p3_map_at(void *base, uint64_t size);
/* Maps zeros in the place of what is mapped there; 0: it is as it was. */
P3_HIDDEN int p3_map_over(void *base, uint64_t size);
P3_HIDDEN void p3_unmap_at(void *base, uint64_t size);
/* Whether this runtime is in the program, not in a library. */
P3_HIDDEN int p3_in_program(void);
/* Maps a part of a file over that; an errno. */
P3_HIDDEN int p3_map_file(void *base, uint64_t size, int fd, uint64_t offset);
/* Maps a part of a file where p3_map would; NULL: it cannot be, for errno. */
P3_HIDDEN void *p3_map_of_file(uint64_t size, int fd, uint64_t offset);

/* p3_process.c: what the header says of the process. */
struct p3_process {
    uint8_t unique[16];
    uint32_t arguments; /* their number */
    uint32_t process;   /* P3_RAW_ARGUMENTS_CUT, _UNKNOWN */
    uint32_t text_size;
    const char *folder, *host;
    char text[P3_RAW_ARGUMENTS_MAX + P3_PATH_MAX + 256]; /* as behind the header */
};
/* As it was when this was called first; in a forked child with an id of its own. */
P3_HIDDEN const struct p3_process *p3_process(void);
/* The caller is a forked child. */
P3_HIDDEN void p3_process_forked(void);
/* Reads up to `size` bytes from the start of a file in /proc, which gives them at once; -1 when there is none. */
P3_HIDDEN ssize_t p3_read_file(const char *path, char *out, size_t size);
struct p3_status {
    char state; /* as ps shows it */
    uint64_t threads;
    uint64_t start; /* when it began */
};
/* Of the process `pid`, 0 for this one; 0 when nothing is known of it. */
P3_HIDDEN int p3_process_status(uint64_t pid, struct p3_status *out);

/* p3_owner.c: whose a file of a pool is. */
struct p3_owner {
    uint8_t boot[16]; /* zeros: no pool can be had, since living processes cannot be told */
    uint64_t pid, start, space, image; /* as owner… in the header */
};
P3_HIDDEN struct p3_owner p3_owner_self(void);
/* Whether the process that `header` names may still count. */
P3_HIDDEN int p3_owner_lives(const struct p3_raw_header *header, const struct p3_owner *self);
P3_HIDDEN void p3_owner_write(struct p3_raw_header *header, const struct p3_owner *owner);
/* Makes the file this process's own for as long as it has it open or mapped. 0, EWOULDBLOCK, or another errno. */
P3_HIDDEN int p3_owner_lock(int fd);

/* p3_name.c: the profile's file name by P3_PROFILE_FILE. */
/* Reads the environment: what the program does to it, to its folder and to its root later is no matter. */
P3_HIDDEN void p3_name_start(void);
P3_HIDDEN void p3_name_end(void);
/* Whether the caller, at the start of a process, is the only one to change its root until this is called with 0. */
P3_HIDDEN void p3_name_hold(int held);
/* Bytes of P3_PROFILE_RESERVE. */
P3_HIDDEN uint64_t p3_reserve_wanted(void);
/* P3_THREADS_MAX: how many threads at once have counters of their own; P3_THREADS_RESERVE: for how many these are made at the start. */
P3_HIDDEN uint64_t p3_threads_wanted(void);
P3_HIDDEN uint64_t p3_threads_reserve(void);
/* P3_SIGNAL and P3_ON_SIGNAL; NULL: not there. They stay where they are. */
P3_HIDDEN const char *p3_signal_wanted(void);
P3_HIDDEN const char *p3_on_signal_wanted(void);
/* Whether there is a P3_SEED, and which. */
P3_HIDDEN int p3_seed_wanted(uint64_t *seed);
/* Whether processes share files: the pattern has a %m. */
P3_HIDDEN int p3_name_pooled(void);
/* The `n`-th name when those before are taken: a number before the extension. 0, P3_SAID. */
P3_HIDDEN int p3_file_name(char *out, size_t size, const struct p3_module *module, int n);
/* Makes the folders above `path`. 0, P3_SAID. */
P3_HIDDEN int p3_make_folders(char *path);
/* An absolute path for the *at() calls, as it was at the start even below another root. */
struct p3_place {
    int folder;
    const char *name;
};
P3_HIDDEN struct p3_place p3_place(const char *path);
/* The same descriptor at a number that programs do not expect to get, and closes `fd`; -1 when there is none. */
P3_HIDDEN int p3_move_up(int fd);

/* p3_signal.c: what P3_SIGNAL and P3_ON_SIGNAL ask for. */
enum p3_wish { P3_DUMP, P3_RESET, P3_ROTATE };
/* From now on the signal does what was asked for, by `act`: never twice at a time, nor while somebody holds the profile. 0 from
 * `act`: it cannot be done here, and p3_signal_again() is to try. */
P3_HIDDEN void p3_signal_start(int (*act)(enum p3_wish wish));
P3_HIDDEN int p3_signal_waits(void);
P3_HIDDEN void p3_signal_again(void);
/* The program's own handler is as it was, unless the program took the signal meanwhile. */
P3_HIDDEN void p3_signal_end(void);
/* Whether the caller is alone with the profile; what is asked for meanwhile is done when it lets go. */
P3_HIDDEN int p3_signal_hold(void);
P3_HIDDEN void p3_signal_release(void);
/* The caller is a forked process, whose other threads hold nothing. */
P3_HIDDEN void p3_signal_forked(void);

/* p3_touched.c: which pages of memory hold anything. */
/* What is done with `size` bytes that are `at` bytes from the first. */
typedef int p3_touched_do(void *with, uint64_t at, uint64_t size);
/* Shows each page that is not all zeros, of whole pages of the program's that were zeros when it began. Stops at what is not 0, and
 * returns it. */
P3_HIDDEN int p3_touched_each(const void *from, uint64_t size, p3_touched_do *each, void *with);

/* p3_file.c: the profile as a file. Results are 0, or an errno. */
struct p3_file {
    int fd; /* atomic; -1: none is kept, the file is opened by its name */
    const char *path;
    dev_t dev;
    ino_t ino;
    uint64_t page;
    uint64_t size; /* claimed so far; atomic */
    uint64_t reserved; /* up to here there is space on disk for the first claims; atomic */
    struct p3_raw_header *header; /* mapped; NULL: there is no file */
    int shared; /* earlier processes counted in it */
};
/* Who is to count in a new file. */
struct p3_counter {
    const struct p3_module *module; /* of this program */
    const struct p3_owner *owner; /* NULL: no other process may */
    int child; /* a forked one */
    int apart; /* no process may ever share files with it: P3_RAW_APART */
    uint64_t ahead; /* bytes of the blocks that will be claimed at once */
    uint32_t epoch; /* as in the header */
    int replace; /* a file of this name is this process's own, from before */
    int (*fill)(struct p3_file *file, int fd); /* writes all that will ever be in it; NULL: it is mapped and counted in */
};
/* Whether something has this name, a dangling link included. */
P3_HIDDEN int p3_file_taken(const char *path);
/* Creates `path`, which must not exist, or be replaced. What is filled is mapped at no time, is whole when it has its name, and is not to
 * be closed. */
P3_HIDDEN int p3_file_create(struct p3_file *file, char *path, const struct p3_counter *by);
/* Maps the header of a file, whose size, name and state are known. Closes `fd`, and keeps one where no program expects it. */
struct stat;
P3_HIDDEN int p3_file_begin(struct p3_file *file, int fd, const struct stat *s);
/* Makes sure that all of it has space on disk. */
P3_HIDDEN int p3_file_reserve(int fd, const struct stat *s, uint64_t size);
/* Claims room for a block of `size` bytes, with space on disk, through a descriptor of p3_file_open. */
P3_HIDDEN int p3_file_claim(struct p3_file *file, int fd, uint64_t size, uint64_t *offset);
/* Gives room back that nothing was written to. */
P3_HIDDEN void p3_file_unclaim(struct p3_file *file, int fd, uint64_t size, uint64_t offset);
/* A descriptor that no other code knows, whatever became of `fd`; -1. The caller closes it. */
P3_HIDDEN int p3_file_open(struct p3_file *file);
/* The same where no other thread runs that could close it: `fd` itself, if it is still that of the file. */
P3_HIDDEN int p3_file_borrow(struct p3_file *file);
/* Closes what p3_file_borrow gave. */
P3_HIDDEN void p3_file_give_back(const struct p3_file *file, int fd);
/* Writes the block of a module's counters at a shift, all of which are zero. */
P3_HIDDEN int p3_file_block(struct p3_file *file, int fd, const struct p3_module *module, uint32_t shift, uint64_t *offset);
/* Writes such a block and these counters as they are. */
P3_HIDDEN int p3_file_module(struct p3_file *file, int fd, const struct p3_module *module, uint32_t shift, const void *counters);
/* Maps counters of a module over a block of it, and adds what was counted there before. */
P3_HIDDEN int p3_file_map_over(int fd, const struct p3_module *module, void *counters, uint64_t offset);
/* Maps the module's counters over its block and adds what was counted before: each increment is there at once. Sets `live`. */
P3_HIDDEN int p3_file_map_counters(int fd, struct p3_module *module, uint64_t offset);
/* The counters are zeros, in memory of this process's own. 0: they are still mapped over the block, which another process counts in. */
P3_HIDDEN int p3_file_leave_counters(struct p3_module *module);
/* No counters will be mapped any more: gives memory back that was had for more of them. */
P3_HIDDEN void p3_file_end(void);
/* Gives the memory back that the counters would be left for. */
P3_HIDDEN void p3_file_free_spare(struct p3_module *module);
/* How the program's counts are updated: P3_UPDATE_… of a header. */
P3_HIDDEN uint32_t p3_update_of(const struct p3_module *module);
/* What the profile says of the module's counters at a shift. */
P3_HIDDEN struct p3_raw_block p3_block_at(const struct p3_module *module, uint32_t shift);
/* The checksum of a block's header, without function records. */
P3_HIDDEN uint32_t p3_block_crc(const struct p3_raw_block *block);
/* The same of something else's, whose checksum without shift is `crc`. */
P3_HIDDEN uint32_t p3_shift_crc(uint32_t crc, uint32_t shift);
P3_HIDDEN int p3_file_write(int fd, const void *data, uint64_t size, uint64_t offset);
/* Unmaps and closes, if the descriptor is still ours. */
P3_HIDDEN void p3_file_close(struct p3_file *file);

/* p3_absent.c: processes whose counts are in no file. */
/* How names of marks end, and a folder beside the files in which other users may make them. */
#define P3_ABSENT_END ".p3absent"
#define P3_ABSENT_FOLDER ".p3absent"
/* The caller is a forked child. Takes the header of its parent's file, NULL where that has none, over, in which the child can be noted. */
P3_HIDDEN void p3_absent_inherit(struct p3_file *parent);
/* Lets go of it. */
P3_HIDDEN void p3_absent_forget(void);
/* What this process counts has no file, or goes to memory first: says so where a merge will find it. `path` is where the file would be;
 * NULL: nothing is to be made there. */
P3_HIDDEN void p3_absent_note(const struct p3_module *module, const char *path);
/* It is in a file. */
P3_HIDDEN void p3_absent_end(void);
/* This process cannot leave its parent's counters: the counts of both are lost. 0: nobody can be told. */
P3_HIDDEN int p3_absent_share(void);

/* p3_pool.c: files that a process takes over from those before it. */
/* Takes over `path`, if no living process counts in it and it is of the same program, copy and boot. 0, ENOENT,
 * EBUSY when it is another's, P3_APART. */
P3_HIDDEN int p3_pool_take(struct p3_file *file, const char *path, const struct p3_counter *by);
/* The next block from `*at` on, which is moved behind it; 0 when there is none. */
P3_HIDDEN int p3_pool_next(const struct p3_file *file, int fd, uint64_t *at, struct p3_raw_block *block);
/* Where a block with this header is in a file that was taken over; 0 when there is none. */
P3_HIDDEN uint64_t p3_pool_block(const struct p3_file *file, int fd, const struct p3_raw_block *wanted);

/* p3_started.c: how the processes of a pool's file were started. */
/* The bytes that a file has for that, at first. */
P3_HIDDEN uint64_t p3_started_size(uint64_t page);
/* One more, a forked child or not. */
P3_HIDDEN void p3_started_add(struct p3_file *file, int child);
/* This one ended normally. */
P3_HIDDEN void p3_started_ended(void);
P3_HIDDEN void p3_started_forget(void);

/* p3_live.c: the profile that holds every count at once. */
/* Where hash tables go; NULL while there is no live profile. */
P3_HIDDEN struct p3_file *p3_live_file(void);
/* Creates the profile for the modules from `first` on, or says why counts stay in memory. */
P3_HIDDEN void p3_live_start(const struct p3_module *first);
/* Maps a module's counters over it, if it is there. */
P3_HIDDEN void p3_live_module(struct p3_module *m);
/* Maps its counters at a shift over it, if those at 0 are; an errno. `counted`: something may have been counted there. */
struct p3_shift;
P3_HIDDEN int p3_live_shift(struct p3_module *m, const struct p3_shift *shift, int counted);
/* Counts are lost: says so once, and in the profile. */
P3_HIDDEN void p3_live_lost(void);
P3_HIDDEN int p3_live_has_lost(void);
/* Counts are in memory, and in the profile, if there is one, only when p3_live_saved() is called. */
P3_HIDDEN void p3_live_unsaved(void);
/* All counts are in the profile that could be written there. */
P3_HIDDEN void p3_live_saved(int failed);
/* The process ends normally; `is_alone`: in its only thread. Others count on in counters of their own. */
P3_HIDDEN void p3_live_ended(int is_alone);
/* The program is about to set its counts to zero, or aside; 0 when it must not: they are other processes', too. */
P3_HIDDEN int p3_live_reset(void);
/* Leaves the parent's profile to the parent. */
P3_HIDDEN void p3_live_forked(void);
P3_HIDDEN void p3_live_end(void);
/* Without a live profile: writes a whole one, in the place of one that this process wrote before. 0, P3_OFF, P3_SAID, or an errno. */
P3_HIDDEN int p3_live_write(const struct p3_module *module, int (*fill)(struct p3_file *file, int fd));
/* Writes a whole one beside it: of the same name and id, and of this epoch. 0, P3_SAID, or an errno, which was said. */
P3_HIDDEN int p3_live_beside(const struct p3_module *module, uint32_t epoch, int (*fill)(struct p3_file *file, int fd));
/* Says that counts are lost, for an errno. */
P3_HIDDEN void p3_live_complain(int failed);

/* p3_arena.c: memory of hash tables, in the profile while there is one. */
P3_HIDDEN struct p3_slot *p3_arena_level(const struct p3_table *table, unsigned level);
/* From now on levels come from the live profile, if there is one; those of earlier processes once a table needs them. */
P3_HIDDEN void p3_arena_restart(void);
/* Gives a table, which is empty, the levels that earlier processes filled. */
P3_HIDDEN void p3_arena_levels(struct p3_table *table);
/* Gives tables of modules, from `first` up to `end`, that are empty the levels that earlier processes filled; maps what
 * their first levels take where there are none, and `more` bytes. */
P3_HIDDEN void p3_arena_tables(struct p3_module *first, const struct p3_module *end, uint64_t more);
/* Whether a level was made before there was a file. */
P3_HIDDEN int p3_arena_in_memory(const struct p3_slot *slots);
/* Unmaps all of it, as a forked child and an unloaded library must. */
P3_HIDDEN void p3_arena_forget(void);
/* Whether there is anything that is only in memory. */
P3_HIDDEN int p3_arena_is_unsaved(void);
/* Writes that to `file`; an errno. */
P3_HIDDEN int p3_arena_store(struct p3_file *file, int fd);
/* Shows the regions that are in the profile: where they are mapped, their size and number. Stops at an errno, and returns it. */
P3_HIDDEN int p3_arena_each(int (*each)(const char *base, uint64_t size, uint32_t number));

/* p3_thread_name.c: what threads are called that have counters of their own, by number of the shift. */
/* Makes room for what is said of a shift. */
P3_HIDDEN void p3_thread_name_room(uint32_t shift);
/* One more thread starts there. */
P3_HIDDEN void p3_thread_name_start(uint32_t shift);
/* It takes a name. */
P3_HIDDEN void p3_thread_name_set(uint32_t shift, const char *name);
/* The caller is a forked child, whose first thread has this shift. */
P3_HIDDEN void p3_thread_name_forked(uint32_t shift);
/* Writes all of it to a file that is not the live one; an errno. */
P3_HIDDEN int p3_thread_name_store(struct p3_file *file, int fd);

/* p3_shift.c: counters of threads. Without P3_BY_THREAD there is one shift, and nobody takes it. */
struct p3_shift {
    int64_t distance; /* from the first thread's counters to these */
    uint32_t number;
    int owner; /* the thread's id; atomic; 0: none has it */
    uintptr_t start; /* what its next owner is to run, with this argument and this mask of signals */
    void *argument;
    uint64_t mask; /* of 64 signals: a sigset_t has room for more */
    uintptr_t handle; /* its owner as a pthread_t; atomic */
};
/* Pages that are at each shift as well. */
struct p3_pages {
    void *start;
    uint64_t size;
};
/* How many shifts there may be, the first thread's included. */
enum { P3_SHIFTS = 1 << 12 };
/* The calling thread's distance. */
P3_HIDDEN int64_t p3_shift_own(void);
/* Where code finds that, but for x86-64: the offset of the thread's variable from its thread pointer. 0 while no thread
 * has a distance, and before constructors: there may be no thread pointer yet, and the distance is 0. */
extern P3_HIDDEN int64_t __p3_own_offset;
/* What is done with the counters of a module at a shift. */
typedef int p3_shift_do(const struct p3_module *m, uint32_t shift, int64_t distance, void *with);
/* Shows the modules at each shift where this runtime has counters, the first thread's first. Stops at what is not 0,
 * and returns it. */
P3_HIDDEN int p3_shift_each(const struct p3_module *modules, p3_shift_do *each, void *with);
/* Where the counters of a module are at that distance. */
static inline uint64_t *p3_counters_at(const struct p3_module *m, int64_t distance) {
    return (uint64_t *)((uintptr_t)m->counters + (uintptr_t)distance);
}
/* Whether threads are to have counters of their own. */
P3_HIDDEN int p3_shift_is_on(void);
/* What the program's runtime sees of starts: its libraries ask for it, as their threads are started by its
 * functions. */
P3_HIDDEN void p3_shift_watch(enum p3_watched by_program);
/* A thread that has no shift of its own begins: it may run code of the program and of all its libraries. */
P3_HIDDEN void p3_shift_note_stranger(void);
/* Whether there was one, in this process. */
P3_HIDDEN int p3_shift_has_strangers(void);
/* Of the program, in a library that has its shifts; else `mine`. */
P3_HIDDEN enum p3_watched p3_shift_watched(enum p3_watched mine);
/* One that no thread has, for one that is going to start and run `start`, by a caller that no signal interrupts; NULL:
 * there is no room for one more. */
P3_HIDDEN struct p3_shift *p3_shift_take(uintptr_t start);
/* That thread does not start. */
P3_HIDDEN void p3_shift_drop(struct p3_shift *shift);
/* The caller is that thread. */
P3_HIDDEN void p3_shift_enter(struct p3_shift *shift);
/* Whether it does so by now. */
P3_HIDDEN int p3_shift_is_entered(const struct p3_shift *shift);
/* How many threads have one, and live; 0: none but the first ever took one. */
P3_HIDDEN uint64_t p3_shift_owned(void);
/* The first of `modules` is going to be there. */
P3_HIDDEN void p3_shift_start(struct p3_module *const *modules, const struct p3_module *first, int in_program);
/* No counters are made at a shift from here on, until p3_shift_modules. */
P3_HIDDEN void p3_shift_hold(void);
/* The modules from `first` up to `end`, which begin the list, get counters at all shifts. */
P3_HIDDEN void p3_shift_modules(struct p3_module *first, const struct p3_module *end);
/* Makes as many as P3_THREADS_RESERVE says, for the first module; others follow. */
P3_HIDDEN void p3_shift_reserve(void);
/* The caller is a forked child: counters at its shift are zeros in memory of its own, others are gone. 0: they are still its parent's. */
P3_HIDDEN int p3_shift_forked(void);
/* Then: counters at its shift go to the profile that it has by now. */
P3_HIDDEN void p3_shift_again(void);
/* The library of this runtime is unloaded. */
P3_HIDDEN void p3_shift_end(void);
/* The thread that has this handle, or is going to have it, takes a name. */
P3_HIDDEN void p3_shift_name(uintptr_t handle, const char *name);
/* The calling thread does. */
P3_HIDDEN void p3_shift_name_own(const char *name);

/* p3_create.c: where threads start. */
P3_HIDDEN enum p3_watched p3_create_watched(void);
/* Whether so many other threads, all there are, are OpenMP's and wait for work: they are in no function of the program. */
P3_HIDDEN int p3_create_are_parked(uint64_t others);
/* The caller is a forked child. */
P3_HIDDEN void p3_create_forked(void);

/* p3_past.c: counts that were set aside. There is a live profile. */
/* How often that was done. */
P3_HIDDEN uint32_t p3_past_epoch(void);
/* Notes what all counters of the modules hold now; an errno. */
P3_HIDDEN int p3_past_note(const struct p3_module *modules);
/* Writes what was counted from the present epoch's beginning to what was noted last; an errno. */
P3_HIDDEN int p3_past_write(struct p3_file *file, int fd);
/* From now on counts are those above what was noted last. */
P3_HIDDEN void p3_past_begin(void);
/* Lets go of what was noted, as a forked child and an unloaded library must. */
P3_HIDDEN void p3_past_forget(void);

/* p3_area.c: modules whose counters lie side by side. */
/* A module, and all others of its program that its link lists, in front of `rest`: an area, then its modules. The first. */
P3_HIDDEN struct p3_module *p3_area_list(struct p3_module *module, struct p3_module *rest);

/* p3_chance.c: random numbers. */
P3_HIDDEN uint64_t p3_chance_next(uint64_t *state);
/* How many are skipped before one that is taken, where each is with probability 1 / period; 2 <= period < 2^45. */
P3_HIDDEN uint64_t p3_chance_skip(uint64_t *state, uint64_t period);
/* The same, but no more than `most`: cheaper, where that is far below the period. */
P3_HIDDEN uint64_t p3_chance_skip_up_to(uint64_t *state, uint64_t period, uint64_t most);
/* How many of so many coins show heads. */
P3_HIDDEN uint32_t p3_chance_heads(uint64_t *state, uint32_t coins);

/* p3_encode.c: subpaths as bytes. */
enum { P3_ENCODER_SLOTS = 32 };
struct p3_encoder {
    uint32_t size; /* of what is written */
    uint32_t full; /* there was no room for all */
    uint32_t run; /* blocks of the repetition under way */
    uint32_t plain; /* repetitions are not looked for */
    uint64_t distances; /* at which it repeats */
    uint32_t at; /* number of the next block; the first is P3_REPEAT_WINDOW */
    uint32_t recent[P3_REPEAT_WINDOW]; /* blocks, by number */
    uint32_t before[P3_REPEAT_WINDOW]; /* the last block before that may be the same, by number */
    uint32_t last[P3_ENCODER_SLOTS]; /* the last block, by its lowest bits */
    uint8_t bytes[P3_SUBPATH_MOST];
};
/* A subpath of so many blocks begins with this one. */
P3_HIDDEN void p3_encode_begin(struct p3_encoder *e, uint32_t block, uint64_t length);
P3_HIDDEN void p3_encode_block(struct p3_encoder *e, uint32_t block);
P3_HIDDEN void p3_encode_end(struct p3_encoder *e);

/* p3_hot.c: the hot list. */
/* How subpaths are sampled; NULL when they are not, or there is no list. */
P3_HIDDEN const struct p3_sampling *p3_hot_sampling(void);
/* Another one in each process and forked child. */
extern P3_HIDDEN unsigned p3_hot_generation;
/* How often the period was doubled with which samples are drawn. */
P3_HIDDEN unsigned p3_hot_doublings(void);
/* A seed for one more thread. */
P3_HIDDEN uint64_t p3_hot_seed(void);
/* A sample was begun that was drawn at so many doublings. */
P3_HIDDEN void p3_hot_begun(unsigned doublings);
/* It could not be recorded, as too many were. */
P3_HIDDEN void p3_hot_crowded(unsigned doublings);
/* Adds the subpath of the `length`-th length, which was drawn at so many doublings; 0: not now, somebody else is adding. `who` is
 * the thread's own. */
P3_HIDDEN int p3_hot_add(const struct p3_encoder *e, unsigned length, unsigned doublings, const void *who);
/* What a thread was adding was left by a jump, and never ends. */
P3_HIDDEN void p3_hot_mend(const void *who);
/* Makes the list, if the module samples and there is none, or takes over that of earlier processes. */
P3_HIDDEN void p3_hot_start(const struct p3_module *module);
/* Lets go of it. */
P3_HIDDEN void p3_hot_forget(void);
/* Whether it is only in memory. */
P3_HIDDEN int p3_hot_is_unsaved(void);
/* Writes it to `file`, if it is; an errno. */
P3_HIDDEN int p3_hot_store(struct p3_file *file, int fd);
/* Empties it, once what it holds is written to `file`, if there is one. An errno; EBUSY: who interrupted it has to come again. */
P3_HIDDEN int p3_hot_empty(struct p3_file *file, int fd);

/* p3_walker.c: what each thread samples with. */
enum { P3_RECORDINGS = 8 };
enum { P3_FREE, P3_ACTIVE, P3_DONE };
#define P3_LOW (INT64_C(1) << 60)
/* A subpath that is being recorded, or waits to be added. */
struct p3_recording {
    int state;
    unsigned length; /* which */
    unsigned doublings; /* at which it was drawn */
    uint64_t left; /* blocks */
    const int64_t *frame; /* the activation, with P3_WITHIN */
    struct p3_encoder encoder;
};
struct p3_walker {
    struct p3_walker *next;
    long thread;
    unsigned generation; /* p3_hot_generation when it began */
    const struct p3_sampling *sampling; /* then */
    unsigned active; /* which recordings are, a bit each */
    int drawn; /* the budget was: it is 0 in a new thread */
    unsigned doublings; /* at which the budget was drawn */
    int low; /* the budget is lower by P3_LOW, so that it is negative while something is recorded */
    uint64_t chance;
    struct p3_recording recordings[P3_RECORDINGS];
};
/* What is left of the thread's budget: how many slots are skipped before the next sample. */
extern P3_HIDDEN __thread int64_t __p3_budget __attribute__((tls_model("initial-exec")));
/* The thread's, once it has been in here. */
extern P3_HIDDEN __thread struct p3_walker *p3_walker_own __attribute__((tls_model("initial-exec")));
/* Where on the stack the runtime was entered; 0: the thread is outside. */
extern P3_HIDDEN __thread volatile uintptr_t p3_walker_inside __attribute__((tls_model("initial-exec")));
/* The thread's; NULL when there is none, or the thread is in here already, in what a signal handler interrupted. */
P3_HIDDEN struct p3_walker *p3_walker_enter_at(uintptr_t here);
static inline struct p3_walker *p3_walker_enter(void) {
    struct p3_walker *w = p3_walker_own;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (w == NULL || p3_walker_inside != 0 || w->generation != p3_hot_generation)
        return p3_walker_enter_at(here);
    p3_walker_inside = here;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return w;
}
/* What the thread wrote is there for whoever has the walker after it. */
static inline void p3_walker_leave(void) {
    __atomic_store_n(&p3_walker_own->thread, p3_walker_own->thread, __ATOMIC_RELEASE);
    p3_walker_inside = 0;
}
/* Lowers the budget, or raises it again. */
P3_HIDDEN void p3_walker_lower(struct p3_walker *w, int low);
/* Makes that of this thread, and draws its first budget: the activation that a thread begins with is not left for that. */
P3_HIDDEN void p3_walker_start(void);
/* The mean number of slots from one sample to the next after so many doublings. */
P3_HIDDEN uint64_t p3_walker_period(const struct p3_walker *w, unsigned doublings);
/* Slots to skip from here on, at most P3_SKIP. */
P3_HIDDEN int64_t p3_walker_draw(struct p3_walker *w);
enum { P3_SKIP_BITS = 48 };
#define P3_SKIP ((INT64_C(1) << P3_SKIP_BITS) - 1)
/* Adds what waits. */
P3_HIDDEN void p3_walker_flush(void);
/* The thread is that of a forked child now. */
P3_HIDDEN void p3_walker_forked(void);

/* p3_slot.c: the slots of hash tables. */
/* The slot that holds the key from now on; NULL without memory. */
P3_HIDDEN struct p3_slot *p3_slot_find(struct p3_table *table, uint64_t key);
/* Takes what the table has out of it, and counts it once more, in the profile: constructors may come before ours. */
P3_HIDDEN void p3_slot_recount(struct p3_table *table);
/* No table has a level any more. */
P3_HIDDEN void p3_slot_empty(struct p3_table *table);

/* For what is on top of p3_register.c: */
/* The modules, in a list. */
P3_HIDDEN struct p3_module *p3_registered(void);
/* The caller is a forked process: it counts from zero, in memory of its own. 0: it cannot, and what it counts goes to its parent's. */
P3_HIDDEN int p3_counts_alone(void);

#endif
