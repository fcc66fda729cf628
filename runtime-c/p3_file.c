/* The raw profile as a file: header, blocks, room. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t crc32(uint32_t crc, const void *data, size_t n) {
    const uint8_t *p = data;
    crc = ~crc;
    while (n-- > 0) {
        crc ^= *p++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ UINT32_C(0xedb88320) : crc >> 1;
    }
    return ~crc;
}

static uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

/* Programs close descriptors that are not theirs, and the number may name another file by now. */
static int ours(const struct p3_file *file, int fd) {
    struct stat s;
    return fstat(fd, &s) == 0 && s.st_dev == file->dev && s.st_ino == file->ino;
}

/* Whether the file can be written to; opens it once more if its descriptor is gone. */
static int usable(struct p3_file *file) {
    if (ours(file, file->fd))
        return 1;
    int fd = open(file->path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && ours(file, fd)) {
        file->fd = fd;
        return 1;
    }
    if (fd >= 0)
        close(fd);
    return 0;
}

/* Beyond the limit the kernel would send SIGXFSZ. */
static int too_large(uint64_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur;
}

static int reserve(int fd, uint64_t offset, uint64_t size) {
    if (too_large(offset + size))
        return EFBIG;
    int failed;
    do
        failed = posix_fallocate(fd, (off_t)offset, (off_t)size);
    while (failed == EINTR);
    return failed;
}

int p3_file_write(struct p3_file *file, const void *data, uint64_t size, uint64_t offset) {
    const char *p = data;
    while (size > 0) {
        ssize_t done = pwrite(file->fd, p, size, (off_t)offset);
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

/* Where blocks begin. */
static uint64_t header_room(uint64_t page) {
    return round_up(sizeof(struct p3_raw_header) + p3_process()->text_size, page);
}

static struct p3_raw_header describe(const struct p3_module *module, uint64_t page) {
    const struct p3_process *process = p3_process();
    struct p3_raw_header header = {.magic = P3_RAW_MAGIC,
                                   .version = P3_RAW_VERSION,
                                   .header_size = sizeof header,
                                   .copy = module->copy,
                                   .copies = module->copies,
                                   .pid = (uint64_t)getpid(),
                                   .parent = (uint64_t)getppid(),
                                   .page = page,
                                   .atomic = module->flags & P3_ATOMIC,
                                   .arguments = process->arguments,
                                   .text_size = process->text_size,
                                   .process = process->process,
                                   .file_size = header_room(page)};
    memcpy(header.program, module->program, sizeof header.program);
    memcpy(header.unique, process->unique, sizeof header.unique);
    uint32_t crc = crc32(0, &header, offsetof(struct p3_raw_header, header_crc));
    header.header_crc = crc32(crc, process->text, process->text_size);
    return header;
}

static int map_header(struct p3_file *file, const struct p3_module *module) {
    struct p3_raw_header header = describe(module, file->page);
    const struct p3_process *process = p3_process();
    int failed = reserve(file->fd, 0, file->size);
    if (!failed)
        failed = p3_file_write(file, &header, sizeof header, 0);
    if (!failed)
        failed = p3_file_write(file, process->text, process->text_size, sizeof header);
    if (failed)
        return failed;
    void *page = mmap(NULL, file->page, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    if (page == MAP_FAILED)
        return errno;
    file->header = page;
    return 0;
}

/* Gives the file its name, unless that is taken. */
static int publish(const char *temporary, const char *path) {
    if (link(temporary, path) == 0)
        return 0;
    if (errno == EEXIST || access(path, F_OK) == 0)
        return EEXIST;
    /* A file system without links. */
    return rename(temporary, path) == 0 ? 0 : errno;
}

/* A process that is killed in here leaves nothing that looks like a profile. */
int p3_file_create(struct p3_file *file, const char *path, const struct p3_module *module) {
    char temporary[PATH_MAX + 32];
    struct stat s;
    if (access(path, F_OK) == 0)
        return EEXIST;
    snprintf(temporary, sizeof temporary, "%s.new%ld", path, (long)getpid());
    int fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    /* Out of the way of programs that expect the lowest numbers. */
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 200);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    fstat(fd, &s);
    *file = (struct p3_file){fd, path, s.st_dev, s.st_ino, module->page, header_room(module->page), NULL};
    int failed = map_header(file, module);
    if (!failed)
        failed = publish(temporary, path);
    unlink(temporary);
    if (failed)
        p3_file_close(file);
    return failed;
}

int p3_file_claim(struct p3_file *file, uint64_t size, uint64_t *offset) {
    if (!usable(file))
        return EBADF;
    *offset = __atomic_fetch_add(&file->size, size, __ATOMIC_RELAXED);
    int failed = reserve(file->fd, *offset, size);
    if (failed)
        return failed;
    uint64_t end = *offset + size;
    uint64_t known = __atomic_load_n(&file->header->file_size, __ATOMIC_RELAXED);
    while (known < end && !__atomic_compare_exchange_n(&file->header->file_size, &known, end, 0,
                                                       __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return 0;
}

static struct p3_raw_function record(const struct p3_module *m, uint32_t i) {
    const struct p3_function *f = &m->functions[i];
    uint64_t first = f->kind == P3_HASH ? 0 : (uint64_t)((uint64_t *)f->counts - m->counters);
    return (struct p3_raw_function){f->func, f->kind, f->size, first};
}

int p3_file_module(struct p3_file *file, const struct p3_module *m, uint64_t *counters_at) {
    uint64_t records = m->n_functions * sizeof(struct p3_raw_function);
    struct p3_raw_block block = {.kind = P3_BLOCK_MODULE, .module = m->module};
    block.n_functions = m->n_functions;
    block.counters_offset = round_up(sizeof block + records, file->page);
    block.n_counters = m->counters_size / sizeof(uint64_t);
    block.size = block.counters_offset + round_up(m->counters_size, file->page);
    block.crc = crc32(0, &block.size, offsetof(struct p3_raw_block, reserved) - sizeof block.magic);
    uint64_t at;
    int failed = p3_file_claim(file, block.size, &at);
    for (uint32_t i = 0; i < m->n_functions && !failed; i++) {
        struct p3_raw_function r = record(m, i);
        block.crc = crc32(block.crc, &r, sizeof r);
        failed = p3_file_write(file, &r, sizeof r, at + sizeof block + i * sizeof r);
    }
    if (!failed)
        failed = p3_file_write(file, m->counters, m->counters_size, at + block.counters_offset);
    if (!failed)
        failed = p3_file_write(file, &block, sizeof block, at);
    block.magic = P3_BLOCK_MAGIC;
    if (!failed)
        failed = p3_file_write(file, &block, sizeof block.magic, at);
    *counters_at = at + block.counters_offset;
    return failed;
}

void p3_file_close(struct p3_file *file) {
    if (file->header != NULL)
        munmap(file->header, file->page);
    if (file->fd >= 0 && ours(file, file->fd))
        close(file->fd);
    *file = (struct p3_file){.fd = -1};
}
