/* Writing the raw profile: whole under a temporary name, then renamed. */
#define _GNU_SOURCE
#include "p3_format.h"
#include "p3_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct out {
    int fd;
    int failed; /* errno */
    uint32_t crc;
    uint64_t size;
    size_t held;
    uint8_t buffer[1 << 14];
};

static uint32_t crc_table[256];

static void make_crc_table(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ UINT32_C(0xedb88320) : c >> 1;
        crc_table[i] = c;
    }
}

static uint32_t crc32(uint32_t crc, const void *data, size_t n) {
    const uint8_t *p = data;
    crc = ~crc;
    while (n-- > 0)
        crc = crc >> 8 ^ crc_table[(crc ^ *p++) & 255];
    return ~crc;
}

static void write_all(struct out *out, const void *data, size_t n) {
    const uint8_t *p = data;
    while (n > 0 && !out->failed) {
        ssize_t done = write(out->fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            out->failed = done < 0 ? errno : EIO;
            return;
        }
        p += done;
        n -= (size_t)done;
    }
}

static void flush(struct out *out) {
    out->crc = crc32(out->crc, out->buffer, out->held);
    out->size += out->held;
    write_all(out, out->buffer, out->held);
    out->held = 0;
}

static void put(struct out *out, const void *data, size_t n) {
    const uint8_t *p = data;
    while (n > 0) {
        size_t room = sizeof out->buffer - out->held;
        size_t part = n < room ? n : room;
        memcpy(out->buffer + out->held, p, part);
        out->held += part;
        p += part;
        n -= part;
        if (out->held == sizeof out->buffer)
            flush(out);
    }
}

static uint64_t entries(const struct p3_function *f) {
    return f->kind == P3_ARRAY ? f->size : ((const struct p3_table *)f->counts)->used;
}

static uint64_t entry_size(const struct p3_function *f) {
    return f->kind == P3_ARRAY ? sizeof(uint64_t) : sizeof(struct p3_raw_entry);
}

static void put_counts(struct out *out, const struct p3_function *f) {
    if (f->kind == P3_ARRAY) {
        put(out, f->counts, f->size * sizeof(uint64_t));
        return;
    }
    const struct p3_table *table = f->counts;
    for (uint64_t i = 0; i < table->capacity; i++)
        if (table->slots[i].key != 0)
            put(out, &table->slots[i], sizeof(struct p3_raw_entry));
}

static void put_body(struct out *out, const struct p3_module *modules,
                     const struct p3_raw_header *header) {
    uint64_t offset = sizeof *header + header->n_modules * sizeof(struct p3_raw_module) +
                      header->n_functions * sizeof(struct p3_raw_function);
    for (const struct p3_module *m = modules; m != NULL; m = m->next) {
        struct p3_raw_module record = {m->module, m->n_functions};
        put(out, &record, sizeof record);
    }
    for (const struct p3_module *m = modules; m != NULL; m = m->next)
        for (uint32_t i = 0; i < m->n_functions; i++) {
            const struct p3_function *f = &m->functions[i];
            struct p3_raw_function record = {f->func, f->kind, f->size, offset, entries(f)};
            put(out, &record, sizeof record);
            offset += record.entries * entry_size(f);
        }
    for (const struct p3_module *m = modules; m != NULL; m = m->next)
        for (uint32_t i = 0; i < m->n_functions; i++)
            put_counts(out, &m->functions[i]);
    flush(out);
}

static void write_profile(struct out *out, const struct p3_module *modules) {
    struct p3_raw_header header = {.magic = P3_RAW_MAGIC,
                                   .version = P3_RAW_VERSION,
                                   .header_size = sizeof header,
                                   .copy = modules->copy,
                                   .copies = modules->copies,
                                   .flags = modules->flags,
                                   .pid = (uint64_t)getpid()};
    memcpy(header.program, modules->program, sizeof header.program);
    for (const struct p3_module *m = modules; m != NULL; m = m->next) {
        header.n_modules++;
        header.n_functions += m->n_functions;
    }
    make_crc_table();
    /* The header's place; it is filled in when the sizes are known. */
    write_all(out, &header, sizeof header);
    put_body(out, modules, &header);
    header.file_size = sizeof header + out->size;
    header.body_crc = out->crc;
    header.header_crc = crc32(0, &header, offsetof(struct p3_raw_header, header_crc));
    if (!out->failed && lseek(out->fd, 0, SEEK_SET) != 0)
        out->failed = errno;
    write_all(out, &header, sizeof header);
}

int p3_write(const struct p3_module *modules, const char *path) {
    static struct out out;
    char temporary[PATH_MAX + 32];
    snprintf(temporary, sizeof temporary, "%s.tmp%ld", path, (long)getpid());
    memset(&out, 0, offsetof(struct out, buffer));
    out.fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out.fd < 0) {
        p3_complain(path, strerror(errno));
        return -1;
    }
    write_profile(&out, modules);
    if (close(out.fd) != 0 && !out.failed)
        out.failed = errno;
    if (!out.failed && rename(temporary, path) != 0)
        out.failed = errno;
    if (!out.failed)
        return 0;
    unlink(temporary);
    p3_complain(path, strerror(out.failed));
    return -1;
}
