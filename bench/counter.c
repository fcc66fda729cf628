// SPDX-License-Identifier: MIT OR Apache-2.0
/* The counter of p3-bench: a plugin of QEMU's user emulation that counts executed instructions by function.
 *
 * Counted is what `main` and all that it calls execute: from its first instruction to its return, or to the end of the
 * process if it leaves in another way. A forked child has counts of its own, which start at zero; what it executes
 * behind an exec is not counted. Each process that came to `main` leaves OUT/PID.tsv: a line of name and count for each
 * function, then the line `end`. A file without that line is of a process that a signal killed, or that still runs.
 *
 * Functions are the symbols of the executable. All others, as those of shared libraries, are one without a name.
 *
 * Counts are not atomic: programs of one thread only. Whole blocks are counted where they begin, so an instruction that
 * faults counts those behind it too. A process that cannot open its file, as behind chroot, is not counted.
 *
 *     qemu-x86_64 -plugin counter.so,out=FOLDER PROGRAM...
 *
 * For QEMU 7.2. Versions that do not have version 1 of the interface refuse it. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Version 1 of the interface, as far as it is used: Debian 12 has no qemu-plugin.h. */
typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { QEMU_PLUGIN_CB_NO_REGS = 0, QEMU_PLUGIN_INLINE_ADD_U64 = 0 };
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
extern const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *);
typedef void (*on_translation)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*on_execution)(unsigned, void *);
typedef void (*on_syscall)(qemu_plugin_id_t, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                           uint64_t, uint64_t, uint64_t);
typedef void (*on_exit_of_process)(qemu_plugin_id_t, void *);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, on_translation);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, on_execution, int, void *);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
extern void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, on_syscall);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, on_exit_of_process, void *);

extern int qemu_plugin_version;
int qemu_plugin_version = 1;
extern int qemu_plugin_install(qemu_plugin_id_t, const qemu_info_t *, int, char **);

/* System calls of x86-64. */
enum { EXECVE = 59, EXECVEAT = 322 };

/* Translated code holds the address of `count`, so none moves or goes. */
struct function {
    const char *name;
    uint64_t count;
    struct function *next;
};

static void *by_name;
static struct function *functions;
static const char *out;
static enum { BEFORE, INSIDE, AFTER } state;
/* Where the block ends that was executed last, before `main`. */
static uint64_t last_end;
/* Of `main`, behind its call. A return is known by where it leads: `main` may end in a jump to another function. */
static uint64_t return_address;

static void *must(void *allocated) {
    if (allocated == NULL)
        abort();
    return allocated;
}

static int compare(const void *a, const void *b) {
    return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

/* QEMU translates under a lock. */
static struct function *function_of(const char *name) {
    struct function wanted = {.name = name};
    struct function **found = must(tsearch(&wanted, &by_name, compare));
    if (*found == &wanted) {
        struct function *new = must(malloc(sizeof *new));
        *new = (struct function){.name = must(strdup(name)), .next = functions};
        *found = functions = new;
    }
    return *found;
}

static void path_of_counts(char path[static 4096]) { snprintf(path, 4096, "%s/%ld.tsv", out, (long)getpid()); }

/* The file is there from the start, so that it is seen if it never gets its counts. */
static void start(void) {
    char path[4096];
    path_of_counts(path);
    for (struct function *f = functions; f != NULL; f = f->next)
        f->count = 0;
    state = INSIDE;
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666);
    if (file >= 0) {
        close(file);
        return;
    }
    fprintf(stderr, "counter: %s: %s\n", path, strerror(errno));
    /* If an earlier process had the same number, its file is not all that it seems. */
    if (truncate(path, 0) != 0)
        perror(path);
    state = AFTER;
}

static void write_counts(void) {
    char path[4096];
    path_of_counts(path);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        for (struct function *f = functions; f != NULL; f = f->next)
            if (f->count > 0)
                fprintf(file, "%s\t%" PRIu64 "\n", f->name, f->count);
        /* None where a line was lost. */
        if (fflush(file) == 0 && ferror(file) == 0)
            fputs("end\n", file);
        if (fclose(file) == 0)
            return;
    }
    fprintf(stderr, "counter: %s: %s\n", path, strerror(errno));
}

static void passed(unsigned cpu, void *end) {
    (void)cpu;
    last_end = (uintptr_t)end;
}

static void enter(unsigned cpu, void *none) {
    (void)cpu, (void)none;
    if (state != BEFORE)
        return;
    return_address = last_end;
    start();
}

static void leave(void) {
    if (state == INSIDE)
        write_counts();
    state = AFTER;
}

static void returned(unsigned cpu, void *none) {
    (void)cpu, (void)none;
    leave();
}

static void at_exit(qemu_plugin_id_t id, void *none) {
    (void)id, (void)none;
    leave();
}

/* If the exec fails, the process goes on, and writes the file again. */
static void at_syscall(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
                       uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
    (void)id, (void)cpu, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    if (state == INSIDE && (number == EXECVE || number == EXECVEAT))
        write_counts();
}

static void in_child(void) {
    if (state == INSIDE)
        start();
}

/* QEMU calls a function of ours before it adds to a counter: the first block of `main` counts, and the one that it
 * returns to does not. Blocks end at calls, jumps and returns, so each is in one function. None of `main` is translated
 * before it runs, so its inner blocks call nothing. */
static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    size_t length = qemu_plugin_tb_n_insns(block);
    const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(block, 0);
    const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(block, length - 1);
    const char *symbol = qemu_plugin_insn_symbol(first);
    const char *name = symbol == NULL ? "" : symbol;
    on_execution call = NULL;
    void *argument = NULL;
    if (state == BEFORE && strcmp(name, "main") == 0) {
        call = enter;
    } else if (state == BEFORE) {
        call = passed;
        argument = (void *)(uintptr_t)(qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last));
    } else if (qemu_plugin_insn_vaddr(first) == return_address) {
        call = returned;
    }
    if (call != NULL)
        qemu_plugin_register_vcpu_tb_exec_cb(block, call, QEMU_PLUGIN_CB_NO_REGS, argument);
    uint64_t *count = &function_of(name)->count;
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, count, length);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int count, char **arguments) {
    (void)info;
    for (int i = 0; i < count; i++)
        if (strncmp(arguments[i], "out=", 4) == 0)
            out = must(strdup(arguments[i] + 4));
    if (out == NULL || pthread_atfork(NULL, NULL, in_child) != 0) {
        fputs("counter: no folder, out=FOLDER\n", stderr);
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_vcpu_syscall_cb(id, at_syscall);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
