/* Between the runtime's own files. */
#ifndef P3_INTERNAL_H
#define P3_INTERNAL_H

#include "p3_abi.h"
#include "p3_format.h"

#include <stddef.h>
#include <sys/types.h>

/* p3_name.c: the profile's file name by P3_PROFILE_FILE; makes missing folders. The `n`-th name
 * when that is taken: a number before the extension. -1 with a message printed. */
P3_HIDDEN int p3_file_name(char *out, size_t size, uint32_t copy, int n);
/* One line on stderr: "p3: SUBJECT: PROBLEM". */
P3_HIDDEN void p3_complain(const char *subject, const char *problem);

enum { P3_PATH_MAX = 4096 }; /* in Linux; PATH_MAX is not in every libc */

/* p3_process.c: what the header says of the process. */
struct p3_process {
    uint8_t unique[16];
    uint32_t arguments; /* their number */
    uint32_t process;   /* P3_RAW_ARGUMENTS_CUT, _UNKNOWN */
    uint32_t text_size;
    char text[P3_RAW_ARGUMENTS_MAX + P3_PATH_MAX + 256]; /* as behind the header */
};
/* As it was when this was called first; in a forked child with an id of its own. */
P3_HIDDEN const struct p3_process *p3_process(void);
/* The caller is a forked child. */
P3_HIDDEN void p3_process_forked(void);

/* p3_file.c: the profile as a file. All return 0, or an errno. */
struct p3_file {
    int fd; /* -1: none */
    const char *path;
    dev_t dev;
    ino_t ino;
    uint64_t page;
    uint64_t size; /* claimed so far; atomic */
    struct p3_raw_header *header; /* mapped */
};
/* Creates `path`, which must not exist, with a header of module's program. */
P3_HIDDEN int p3_file_create(struct p3_file *file, const char *path, const struct p3_module *module);
/* Claims room for a block of `size` bytes, with space on disk. */
P3_HIDDEN int p3_file_claim(struct p3_file *file, uint64_t size, uint64_t *offset);
/* Writes the block of a module with its counters as they are; valid afterwards. */
P3_HIDDEN int p3_file_module(struct p3_file *file, const struct p3_module *module, uint64_t *counters_at);
P3_HIDDEN int p3_file_write(struct p3_file *file, const void *data, uint64_t size, uint64_t offset);
/* Unmaps and closes, if the descriptor is still ours. */
P3_HIDDEN void p3_file_close(struct p3_file *file);

/* p3_arena.c: memory of hash tables, in the profile while there is one. */
P3_HIDDEN struct p3_slot *p3_arena_level(const struct p3_table *table, unsigned level);
/* From now on levels come from the live profile, if there is one. */
P3_HIDDEN void p3_arena_restart(void);
/* Moves what a table has in memory into the profile: constructors may come before ours. */
P3_HIDDEN void p3_arena_move(struct p3_table *table);
/* Forgets all of it, as a forked child must. */
P3_HIDDEN void p3_arena_forget(void);
/* Writes what is only in memory to `file`; an errno. */
P3_HIDDEN int p3_arena_store(struct p3_file *file);

/* p3_table.c */
P3_HIDDEN uint64_t p3_level_slots(unsigned level);

/* p3_register.c: where hash tables go; NULL while there is no live profile. */
P3_HIDDEN struct p3_file *p3_live_file(void);
P3_HIDDEN void p3_count_lost(void);

#endif
