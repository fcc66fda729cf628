// SPDX-License-Identifier: MIT OR Apache-2.0
/* The raw profile as a file: header, blocks, room.
 *
 * Calls: p3_crc.c, p3_layout.c, p3_name.c, p3_owner.c, p3_process.c, p3_quiet.c, p3_threads.c, p3_touched.c.
 * In signal handlers: all of it; p3_file_create by one at a time. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Programs close descriptors that are not theirs, and the number may name another file by now. */
static int ours(const struct p3_file *file, int fd) {
    struct stat s;
    return fd >= 0 && fstat(fd, &s) == 0 && s.st_dev == file->dev && s.st_ino == file->ino;
}

static int keep_ours(const struct p3_file *file, int fd) {
    if (ours(file, fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A duplicate, so that whoever closes the one that is kept, and opens something else, between the check and
 * the use does no harm. */
int p3_file_open(struct p3_file *file) {
    int kept = __atomic_load_n(&file->fd, __ATOMIC_RELAXED);
    int fd = kept < 0 ? -1 : keep_ours(file, fcntl(kept, F_DUPFD_CLOEXEC, 3));
    if (fd >= 0)
        return fd;
    struct p3_place place = p3_place(file->path);
    return keep_ours(file, openat(place.folder, place.name, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
}

int p3_file_borrow(struct p3_file *file) {
    int kept = __atomic_load_n(&file->fd, __ATOMIC_RELAXED);
    return p3_threads_is_single() && ours(file, kept) ? kept : p3_file_open(file);
}

void p3_file_give_back(const struct p3_file *file, int fd) {
    if (fd >= 0 && fd != __atomic_load_n(&file->fd, __ATOMIC_RELAXED))
        close(fd);
}

/* Beyond the limit the kernel would send SIGXFSZ. */
static int too_large(uint64_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur;
}

static const char zeros[4096];

/* For file systems that cannot reserve room. */
static int fill(int fd, uint64_t offset, uint64_t size) {
    int failed = 0;
    for (uint64_t done = 0; done < size && !failed; done += sizeof zeros) {
        uint64_t left = size - done;
        failed = p3_file_write(fd, zeros, left < sizeof zeros ? left : sizeof zeros, offset + done);
    }
    return failed;
}

static int reserve(int fd, uint64_t offset, uint64_t size) {
    if (too_large(offset + size))
        return EFBIG;
    int failed;
    do
        failed = fallocate(fd, 0, (off_t)offset, (off_t)size) == 0 ? 0 : errno;
    while (failed == EINTR);
    return failed == EOPNOTSUPP || failed == ENOSYS ? fill(fd, offset, size) : failed;
}

/* Where a file system cannot reserve room, nothing was left without. */
int p3_file_reserve(int fd, const struct stat *s, uint64_t size) {
    if ((uint64_t)s->st_blocks * 512 >= size)
        return 0;
    int failed;
    do
        failed = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) == 0 ? 0 : errno;
    while (failed == EINTR);
    return failed == EOPNOTSUPP || failed == ENOSYS ? 0 : failed;
}

int p3_file_write(int fd, const void *data, uint64_t size, uint64_t offset) {
    const char *p = data;
    while (size > 0) {
        ssize_t done = pwrite(fd, p, size, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : EIO;
        p += done;
        size -= (uint64_t)done;
        offset += (uint64_t)done;
    }
    return 0;
}

/* What goes to a file from several places, one behind the other. */
struct gathered {
    int fd;
    uint64_t offset;
    unsigned n;
    struct iovec pieces[256];
};

/* A file system writes less than it is asked for where it has no room for more. */
static int write_gathered(struct gathered *g) {
    struct iovec *piece = g->pieces, *end = piece + g->n;
    while (piece != end) {
        ssize_t n = pwritev(g->fd, piece, (int)(end - piece), (off_t)g->offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        g->offset += (uint64_t)n;
        for (; piece != end && (size_t)n >= piece->iov_len; piece++)
            n -= (ssize_t)piece->iov_len;
        if (piece != end) {
            piece->iov_base = (char *)piece->iov_base + n;
            piece->iov_len -= (size_t)n;
        }
    }
    g->n = 0;
    return 0;
}

static int gather(struct gathered *g, const void *data, uint64_t size) {
    int failed = g->n == sizeof g->pieces / sizeof *g->pieces ? write_gathered(g) : 0;
    if (!failed)
        g->pieces[g->n++] = (struct iovec){(void *)(uintptr_t)data, size};
    return failed;
}

/* Where blocks begin. */
static uint64_t header_room(uint64_t page) {
    return p3_round_up(sizeof(struct p3_raw_header) + p3_process()->text_size, page);
}

static struct p3_raw_header describe(const struct p3_counter *by) {
    const struct p3_process *process = p3_process();
    const struct p3_module *module = by->module;
    struct p3_raw_header header = {.magic = P3_RAW_MAGIC,
                                   .version = P3_RAW_VERSION,
                                   .header_size = sizeof header,
                                   .copy = module->copy,
                                   .copies = module->copies,
                                   .pid = by->owner != NULL ? by->owner->pid : (uint64_t)getpid(),
                                   .parent = (uint64_t)getppid(),
                                   .page = module->page,
                                   .update = p3_update_of(module),
                                   .arguments = process->arguments,
                                   .text_size = process->text_size,
                                   .process = process->process,
                                   /* Who counts in it sets those that may change. */
                                   .flags = (by->apart ? P3_RAW_APART : 0) | (by->fill != NULL ? p3_threads_flags(1) : 0),
                                   .epoch = by->epoch,
                                   .file_size = header_room(module->page),
                                   .runs = by->child ? 0 : 1,
                                   .children = by->child ? 1 : 0};
    memcpy(header.program, module->program, sizeof header.program);
    memcpy(header.unique, process->unique, sizeof header.unique);
    if (by->owner != NULL) {
        memcpy(header.boot, by->owner->boot, sizeof header.boot);
        p3_owner_write(&header, by->owner);
    }
    uint32_t crc = p3_crc32(0, &header, offsetof(struct p3_raw_header, header_crc));
    header.header_crc = p3_crc32(crc, process->text, process->text_size);
    return header;
}

/* With space on disk, and for what is claimed next, if there is so much. */
static int write_header(struct p3_file *file, int fd, const struct p3_raw_header *header, uint64_t ahead) {
    const struct p3_process *process = p3_process();
    struct gathered g = {.fd = fd};
    int failed = reserve(fd, 0, file->size + ahead);
    if (!failed)
        file->reserved = file->size + ahead;
    else if (ahead != 0)
        failed = ftruncate(fd, 0) == 0 ? reserve(fd, 0, file->size) : errno;
    if (!failed)
        failed = gather(&g, header, sizeof *header);
    if (!failed)
        failed = gather(&g, process->text, process->text_size);
    return failed ? failed : write_gathered(&g);
}

int p3_file_begin(struct p3_file *file, int fd, const struct stat *s) {
    file->header = p3_map_of_file(file->page, fd, 0);
    if (file->header == NULL) {
        int failed = errno;
        close(fd);
        return failed;
    }
    file->dev = s->st_dev;
    file->ino = s->st_ino;
    file->fd = p3_move_up(fd);
    return 0;
}

int p3_file_taken(const char *path) {
    struct p3_place place = p3_place(path);
    struct stat s;
    return fstatat(place.folder, place.name, &s, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Gives the file its name, unless that is taken and not to be replaced. */
static int publish(const char *temporary, const char *path, int replace) {
    struct p3_place from = p3_place(temporary), to = p3_place(path);
    if (!replace && linkat(from.folder, from.name, to.folder, to.name, 0) == 0)
        return 0;
    if (!replace && (errno == EEXIST || p3_file_taken(path)))
        return EEXIST;
    /* A file system without links, or a file of ours. */
    return renameat(from.folder, from.name, to.folder, to.name) == 0 ? 0 : errno;
}

/* A name that no one can have foreseen. */
static int temporary_name(char *out, size_t size, const char *path) {
    size_t at = p3_append(out, size, p3_append(out, size, 0, path), ".new");
    for (size_t i = 0; i < sizeof p3_process()->unique; i++)
        at = p3_append_number(out, size, at, p3_process()->unique[i], 16);
    return at == SIZE_MAX ? ENAMETOOLONG : 0;
}

/* Opens what must not exist; P3_SAID, or an errno. */
static int open_new(const char *temporary, char *path, int *fd) {
    enum { FLAGS = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC };
    struct p3_place place = p3_place(temporary);
    *fd = openat(place.folder, place.name, FLAGS, 0666);
    if (*fd >= 0 || errno != ENOENT)
        return *fd >= 0 ? 0 : errno;
    int failed = p3_make_folders(path);
    if (failed)
        return failed;
    *fd = openat(place.folder, place.name, FLAGS, 0666);
    return *fd >= 0 ? 0 : errno;
}

/* The program's umask may keep a file from its own user, who is to read it, and whose next process counts in it. */
static void give_to_owner(int fd, const struct stat *s) {
    if ((s->st_mode & 0600) != 0600)
        fchmod(fd, (s->st_mode & 07777) | 0600);
}

/* Nothing is mapped for it: there may be no memory for that. */
static int fill_unmapped(struct p3_file *file, int fd, const struct p3_counter *by, struct p3_raw_header *header) {
    file->header = header;
    int failed = by->fill(file, fd);
    file->header = NULL;
    return failed ? failed : p3_file_write(fd, header, sizeof *header, 0);
}

/* A file with a header and no name; P3_SAID, or an errno. */
static int make(struct p3_file *file, const char *temporary, char *path, const struct p3_counter *by) {
    struct p3_counter alone = *by;
    struct stat s;
    int fd, failed = open_new(temporary, path, &fd);
    if (failed)
        return failed;
    if (fstat(fd, &s) != 0) {
        failed = errno;
        close(fd);
        return failed;
    }
    give_to_owner(fd, &s);
    /* Locked before anyone knows of it; without locks it is this process's alone. */
    if (by->owner != NULL && p3_owner_lock(fd) != 0) {
        alone.owner = NULL;
        alone.apart = 1;
    }
    *file = (struct p3_file){.fd = -1, .path = path, .page = by->module->page, .size = header_room(by->module->page)};
    struct p3_raw_header header = describe(&alone);
    failed = write_header(file, fd, &header, by->ahead);
    if (!failed && by->fill == NULL)
        return p3_file_begin(file, fd, &s);
    if (!failed)
        failed = fill_unmapped(file, fd, by, &header);
    close(fd);
    return failed;
}

/* A process that is killed in here leaves nothing that looks like a profile. */
int p3_file_create(struct p3_file *file, char *path, const struct p3_counter *by) {
    char temporary[P3_PATH_MAX + 64];
    int failed = temporary_name(temporary, sizeof temporary, path);
    if (failed)
        return failed;
    failed = make(file, temporary, path, by);
    if (!failed && (failed = publish(temporary, path, by->replace)) != 0)
        p3_file_close(file);
    struct p3_place place = p3_place(temporary);
    unlinkat(place.folder, place.name, 0);
    return failed;
}

int p3_file_claim(struct p3_file *file, int fd, uint64_t size, uint64_t *offset) {
    uint64_t begin = __atomic_fetch_add(&file->size, size, __ATOMIC_RELAXED), end = begin + size;
    int failed = end <= __atomic_load_n(&file->reserved, __ATOMIC_RELAXED) ? 0 : reserve(fd, begin, size);
    if (failed) {
        p3_file_unclaim(file, fd, size, begin);
        return failed;
    }
    *offset = begin;
    uint64_t known = __atomic_load_n(&file->header->file_size, __ATOMIC_RELAXED);
    while (known < end && !__atomic_compare_exchange_n(&file->header->file_size, &known, end, 0,
                                                       __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return 0;
}

/* The length stays: others may have claimed what follows. */
void p3_file_unclaim(struct p3_file *file, int fd, uint64_t size, uint64_t offset) {
    uint64_t end = offset + size;
    __atomic_store_n(&file->reserved, 0, __ATOMIC_RELAXED);
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
    __atomic_compare_exchange_n(&file->size, &end, offset, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

uint32_t p3_shift_crc(uint32_t crc, uint32_t shift) { return shift == 0 ? crc : p3_crc32(crc, &shift, sizeof shift); }

uint32_t p3_block_crc(const struct p3_raw_block *block) {
    enum { BEGIN = offsetof(struct p3_raw_block, size), END = offsetof(struct p3_raw_block, used) };
    return p3_shift_crc(p3_crc32(0, (const char *)block + BEGIN, END - BEGIN), block->shift);
}

uint32_t p3_update_of(const struct p3_module *m) {
    return (m->flags & P3_BY_THREAD) != 0 ? P3_UPDATE_BY_THREAD : (m->flags & P3_ATOMIC) != 0 ? P3_UPDATE_ATOMIC : P3_UPDATE_SINGLE;
}

struct p3_raw_block p3_block_at(const struct p3_module *m, uint32_t shift) {
    struct p3_raw_block block = *m->block;
    block.shift = shift;
    block.crc = p3_shift_crc(block.crc, shift);
    return block;
}

/* A block without its counters. In an area what is said of its modules follows. */
static int write_description(int fd, const struct p3_module *m, const struct p3_raw_block *block, uint64_t offset) {
    struct gathered g = {.fd = fd, .offset = offset};
    int failed = gather(&g, block, sizeof *block);
    if (block->kind != P3_BLOCK_AREA && !failed)
        failed = gather(&g, m->block + 1, p3_description_size(block) - sizeof *block);
    for (uint64_t i = 0; block->kind == P3_BLOCK_AREA && i < block->n_functions && !failed; i++) {
        m = m->next;
        failed = gather(&g, m->block, p3_description_size(m->block));
    }
    return failed ? failed : write_gathered(&g);
}

/* A process may be killed while it writes. The header comes first, and with it whoever reads the file passes over the
 * block, until a word in it tells that all is written. The counters behind it are zero. */
int p3_file_block(struct p3_file *file, int fd, const struct p3_module *m, uint32_t shift, uint64_t *offset) {
    struct p3_raw_block block = p3_block_at(m, shift);
    int failed = p3_file_claim(file, fd, block.size, offset);
    if (failed)
        return failed;
    block.used = P3_BLOCK_BEGUN;
    failed = write_description(fd, m, &block, *offset);
    block.used = 0;
    if (!failed)
        failed = p3_file_write(fd, &block.used, sizeof block.used, *offset + offsetof(struct p3_raw_block, used));
    if (failed)
        p3_file_unclaim(file, fd, block.size, *offset);
    return failed;
}

/* Where counts go. */
struct copying {
    const struct p3_module *module;
    void *counters;
    int fd;
    uint64_t offset; /* of the first counter in the file */
    /* Of each page the number of its first counter, that of its counters, and these. */
    uint64_t *begin, *end;
};

static int write_page(void *with, uint64_t at, uint64_t size) {
    const struct copying *c = with;
    return p3_file_write(c->fd, (const char *)c->counters + at, size, c->offset + at);
}

/* To where the file holds zeros: pages that hold none are not written, which most are at first. */
int p3_file_module(struct p3_file *file, int fd, const struct p3_module *m, uint32_t shift, const void *counters) {
    struct copying c = {.module = m, .fd = fd, .counters = (void *)(uintptr_t)counters};
    int failed = p3_file_block(file, fd, m, shift, &c.offset);
    if (failed)
        return failed;
    c.offset += m->block->counters_offset;
    failed = p3_touched_each(counters, m->counters_size, write_page, &c);
    if (failed)
        p3_file_unclaim(file, fd, m->block->size, c.offset - m->block->counters_offset);
    return failed;
}

/* Addresses for all pages, each with two words before it. */
static uint64_t room(const struct p3_module *m) { return m->counters_size + m->counters_size / 64; }

static int keep_page(void *with, uint64_t at, uint64_t size) {
    struct copying *c = with;
    if (c->begin == NULL)
        c->begin = c->end = p3_map(room(c->module));
    if (c->begin == NULL)
        return ENOMEM;
    *c->end++ = at / sizeof *c->end;
    *c->end++ = size / sizeof *c->end;
    memcpy(c->end, (const char *)c->counters + at, size);
    c->end += size / sizeof *c->end;
    return 0;
}

static void add_kept(const struct copying *c) {
    for (const uint64_t *word = c->begin; word < c->end;) {
        uint64_t *counters = (uint64_t *)c->counters + *word++, n = *word++;
        for (uint64_t i = 0; i < n; i++)
            if (word[i] != 0)
                counters[i] += word[i];
        word += n;
    }
}

/* What `live` of a module is beside the address of its spare memory. */
enum { NOT_LIVE = 0, WITHOUT_SPARE = 1 };

/* The file may hold what earlier processes counted: what came before the mapping is added. */
int p3_file_map_over(int fd, const struct p3_module *m, void *counters, uint64_t offset) {
    struct copying c = {.module = m, .counters = counters};
    int failed = p3_touched_each(counters, m->counters_size, keep_page, &c);
    if (!failed)
        failed = p3_map_file(counters, m->counters_size, fd, offset + m->block->counters_offset);
    if (!failed)
        add_kept(&c);
    if (c.begin != NULL)
        munmap(c.begin, room(m));
    return failed;
}

/* Spare memory is cut from pieces that double: a program may have hundreds of modules. */
static struct {
    char *rest;
    uint64_t left, all;
} spares;

void p3_file_end(void) {
    if (spares.left != 0)
        munmap(spares.rest, spares.left);
    spares.left = spares.all = 0;
}

static char *cut_spare(uint64_t size) {
    if (spares.left < size) {
        uint64_t piece = spares.all < size ? size : spares.all;
        char *more = p3_map(piece);
        if (more == NULL)
            more = p3_map(piece = size);
        if (more == NULL)
            return NULL;
        if (spares.left != 0)
            munmap(spares.rest, spares.left);
        spares.rest = more;
        spares.left = piece;
        spares.all += piece;
    }
    spares.left -= size;
    spares.rest += size;
    return spares.rest - size;
}

/* Memory that a forked child can put in the place of the mapping is had before: the child may be past every limit. */
int p3_file_map_counters(int fd, struct p3_module *m, uint64_t offset) {
    if (m->counters_size == 0) {
        m->live = WITHOUT_SPARE;
        return 0;
    }
    void *spare = cut_spare(m->counters_size);
    int failed = spare == NULL ? ENOMEM : p3_file_map_over(fd, m, m->counters, offset);
    if (!failed)
        m->live = (uintptr_t)spare;
    else if (spare != NULL)
        munmap(spare, m->counters_size);
    return failed;
}

/* Moving memory needs none, whatever the limits are. To write to a module costs a forked child a page. */
int p3_file_leave_counters(struct p3_module *m) {
    if ((m->flags & P3_IN_AREA) != 0)
        return 1;
    void *spare = m->live > WITHOUT_SPARE ? (void *)(uintptr_t)m->live : NULL;
    uint64_t size = m->counters_size;
    if (m->live == NOT_LIVE || size == 0) {
        m->live = NOT_LIVE;
        if (size != 0)
            memset(m->counters, 0, size);
        return 1;
    }
    int left = spare != NULL && mremap(spare, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, m->counters) != MAP_FAILED;
    if (!left) {
        p3_file_free_spare(m);
        left = mmap(m->counters, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    m->live = left ? NOT_LIVE : WITHOUT_SPARE;
    return left;
}

void p3_file_free_spare(struct p3_module *m) {
    if (m->live > WITHOUT_SPARE) {
        munmap((void *)(uintptr_t)m->live, m->counters_size);
        m->live = WITHOUT_SPARE;
    }
}

void p3_file_close(struct p3_file *file) {
    if (file->header != NULL)
        munmap(file->header, file->page);
    if (ours(file, file->fd))
        close(file->fd);
    *file = (struct p3_file){.fd = -1};
}
