/* Between the runtime's own files, which are in layers: each calls only those above it in this header, and p3_table.c and
 * p3_register.c, which rewritten modules call, are called by none.
 *
 * What is called when. The program must notice none of it: errno stays, no thread is cancelled in here
 * (p3_enter, p3_leave), no lock is taken, nothing is allocated by malloc.
 *
 *   when                  calls                                        safe, because
 *   counting              none                                         a table whose level has room, an array
 *   counting, a table     mmap, munmap, fcntl(F_DUPFD_CLOEXEC),        system calls, async-signal-safe by POSIX
 *   grows                 fstat, fstatat, openat, close, getrlimit,    or without state of libc; in a signal
 *                         fallocate, pwrite, pthread_setcancelstate    handler, while others count or grow
 *   counting, no memory   poll, write                                  once in a process, one line
 *   constructors          the above; getenv, getauxval, geteuid,       ours come first; getenv and atexit are
 *                         uname, getcwd, open, read, getrandom,        called here alone, when no thread runs
 *                         clock_gettime, getpid, getppid, fstatat,     yet, or under the lock of dlopen
 *                         mkdirat, linkat, renameat, unlinkat, sbrk,
 *                         personality, pthread_atfork, atexit
 *   child of fork         those of a growing table; getpid, getppid,   the pattern, the arguments and the folder
 *                         getrandom, clock_gettime, geteuid, fstatat,  were read by the parent's constructor;
 *                         mkdirat, linkat, renameat, unlinkat          whatever locks were held are not ours
 *   exit, dlclose         those of a growing table; open, read,        no code of ours runs afterwards: a
 *                         unlinkat                                     library's runtime lets go of everything
 *
 * After seccomp's strict mode (or a filter that kills) only the first line is possible. What tables need at first
 * is mapped by the constructor: two levels each, and P3_PROFILE_RESERVE MiB more. */
#ifndef P3_INTERNAL_H
#define P3_INTERNAL_H

#include "p3_abi.h"
#include "p3_format.h"

#include <stddef.h>
#include <sys/types.h>

enum { P3_PATH_MAX = 4096 }; /* in Linux; PATH_MAX is not in every libc */

/* Results beside 0 and an errno. */
enum { P3_SAID = -1, /* it failed, and a line on stderr said so */
       P3_OFF = -2 /* no profile is wanted */ };

static inline uint64_t p3_round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

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

/* p3_layout.c: addresses that copies have in common. */
/* Moves the program's break to a boundary that all copies share, before anything is allocated. */
P3_HIDDEN void p3_align_break(void);
/* Maps zeros where the program's own mappings do not go; NULL without memory. */
P3_HIDDEN void *p3_map(uint64_t size);
/* Maps a part of a file over that; an errno. */
P3_HIDDEN int p3_map_file(void *base, uint64_t size, int fd, uint64_t offset);

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
/* Reads up to `size` bytes from the start of a file; -1 when there is none. */
P3_HIDDEN ssize_t p3_read_file(const char *path, char *out, size_t size);

/* p3_name.c: the profile's file name by P3_PROFILE_FILE. */
/* Reads the environment: what the program does to it, to its folder and to its root later is no matter. */
P3_HIDDEN void p3_name_start(void);
P3_HIDDEN void p3_name_end(void);
/* Bytes of P3_PROFILE_RESERVE. */
P3_HIDDEN uint64_t p3_reserve_wanted(void);
/* The `n`-th name when those before are taken: a number before the extension. 0, P3_SAID. */
P3_HIDDEN int p3_file_name(char *out, size_t size, uint32_t copy, int n);
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

/* p3_file.c: the profile as a file. Results are 0, or an errno. */
struct p3_file {
    int fd; /* atomic; -1: none is kept, the file is opened by its name */
    const char *path;
    dev_t dev;
    ino_t ino;
    uint64_t page;
    uint64_t size; /* claimed so far; atomic */
    struct p3_raw_header *header; /* mapped; NULL: there is no file */
};
/* Whether something has this name, a dangling link included. */
P3_HIDDEN int p3_file_taken(const char *path);
/* Creates `path`, which must not exist, with a header of module's program. */
P3_HIDDEN int p3_file_create(struct p3_file *file, char *path, const struct p3_module *module);
/* Claims room for a block of `size` bytes, with space on disk, through a descriptor of p3_file_open. */
P3_HIDDEN int p3_file_claim(struct p3_file *file, int fd, uint64_t size, uint64_t *offset);
/* Gives room back that nothing was written to. */
P3_HIDDEN void p3_file_unclaim(struct p3_file *file, int fd, uint64_t size, uint64_t offset);
/* A descriptor that no other code knows, whatever became of `fd`; -1. The caller closes it. */
P3_HIDDEN int p3_file_open(struct p3_file *file);
/* Writes the block of a module with its counters as they are. */
P3_HIDDEN int p3_file_module(struct p3_file *file, int fd, const struct p3_module *module);
/* The same, and maps the module's counters over it: what was counted before is there, and each increment will
 * be at once. */
P3_HIDDEN int p3_file_module_live(struct p3_file *file, int fd, const struct p3_module *module);
/* The checksum of a block's header, without function records. */
P3_HIDDEN uint32_t p3_block_crc(const struct p3_raw_block *block);
P3_HIDDEN int p3_file_write(int fd, const void *data, uint64_t size, uint64_t offset);
/* Unmaps and closes, if the descriptor is still ours. */
P3_HIDDEN void p3_file_close(struct p3_file *file);

/* p3_live.c: the profile that holds every count at once. */
/* Where hash tables go; NULL while there is no live profile. */
P3_HIDDEN struct p3_file *p3_live_file(void);
/* Creates the profile, or says why counts stay in memory. */
P3_HIDDEN void p3_live_start(const struct p3_module *first);
/* Maps a module's counters over it, if it is there. */
P3_HIDDEN void p3_live_module(struct p3_module *m);
/* Counts are lost: says so once, and in the profile. */
P3_HIDDEN void p3_live_lost(void);
P3_HIDDEN int p3_live_has_lost(void);
/* Leaves the parent's profile to the parent. */
P3_HIDDEN void p3_live_forked(void);
P3_HIDDEN void p3_live_end(void);
/* Creates a profile under the first name that is free. 0, P3_OFF, P3_SAID, or an errno. */
P3_HIDDEN int p3_live_create(struct p3_file *file, const struct p3_module *module);
/* Removes the one that was created last. */
P3_HIDDEN void p3_live_remove(void);
/* Says that counts are lost, for an errno. */
P3_HIDDEN void p3_live_complain(int failed);

/* p3_arena.c: memory of hash tables, in the profile while there is one. */
P3_HIDDEN struct p3_slot *p3_arena_level(const struct p3_table *table, unsigned level);
/* From now on levels come from the live profile, if there is one. */
P3_HIDDEN void p3_arena_restart(void);
/* Maps what the first levels of `tables` more tables take, and `more` bytes. */
P3_HIDDEN void p3_arena_reserve(uint64_t tables, uint64_t more);
/* Moves what a table has in memory into the profile: constructors may come before ours. */
P3_HIDDEN void p3_arena_move(struct p3_table *table);
/* Unmaps all of it, as a forked child and an unloaded library must. */
P3_HIDDEN void p3_arena_forget(void);
/* Writes what is only in memory to `file`; an errno. */
P3_HIDDEN int p3_arena_store(struct p3_file *file, int fd);

#endif
