/* Where the raw profile goes, and how the runtime complains. */
#define _GNU_SOURCE
#include "p3_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char DEFAULT_PATTERN[] = "p3-%k-%p.p3raw";

void p3_complain(const char *subject, const char *problem) {
    char line[512];
    int n = snprintf(line, sizeof line, "p3: %s: %s\n", subject, problem);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    if (length > 0)
        line[length - 1] = '\n';
    ssize_t written = write(2, line, length);
    (void)written;
}

/* Appends `text`; SIZE_MAX when it does not fit. */
static size_t append(char *out, size_t size, size_t at, const char *text) {
    size_t n = strlen(text);
    if (at == SIZE_MAX || n >= size - at)
        return SIZE_MAX;
    memcpy(out + at, text, n + 1);
    return at + n;
}

static size_t append_field(char *out, size_t size, size_t at, char field, uint32_t copy) {
    char text[256] = {field, 0};
    switch (field) {
    case 'p':
        snprintf(text, sizeof text, "%ld", (long)getpid());
        break;
    case 'k':
        snprintf(text, sizeof text, "%u", (unsigned)copy);
        break;
    case 'h':
        if (gethostname(text, sizeof text - 1) != 0)
            strcpy(text, "localhost");
        break;
    case '%':
        break;
    default: /* not ours: as it stands */
        text[0] = '%', text[1] = field, text[2] = 0;
    }
    return append(out, size, at, text);
}

static size_t expand(char *out, size_t size, size_t at, const char *pattern, uint32_t copy) {
    if (at == 0)
        out[0] = 0;
    for (const char *p = pattern; *p != 0; p++) {
        char one[2] = {*p, 0};
        at = *p == '%' && p[1] != 0 ? append_field(out, size, at, *++p, copy)
                                    : append(out, size, at, one);
    }
    return at;
}

static int make_folders(char *path) {
    for (char *p = path + 1; *p != 0; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        int failed = mkdir(path, 0777) != 0 && errno != EEXIST && errno != EISDIR;
        if (failed)
            p3_complain(path, strerror(errno));
        *p = '/';
        if (failed)
            return -1;
    }
    return 0;
}

/* Puts "-N" before the extension. */
static size_t number(char *out, size_t size, size_t at, int n) {
    char text[300], *slash = strrchr(out, '/'), *dot = strrchr(out, '.');
    if (n == 0 || at == SIZE_MAX)
        return at;
    if (dot == NULL || (slash != NULL && dot < slash) || strlen(dot) > 200)
        dot = out + at;
    snprintf(text, sizeof text, "-%d%s", n, dot);
    return append(out, size, (size_t)(dot - out), text);
}

/* The working folder of the program may change. */
static size_t absolute(char *out, size_t size) {
    if (getcwd(out, size) == NULL)
        return out[0] = 0, 0;
    return append(out, size, strlen(out), "/");
}

int p3_file_name(char *out, size_t size, uint32_t copy, int n) {
    const char *pattern = getenv("P3_PROFILE_FILE");
    if (pattern == NULL || *pattern == 0)
        pattern = DEFAULT_PATTERN;
    size_t at = *pattern == '/' ? 0 : absolute(out, size);
    at = expand(out, size, at, pattern, copy);
    if (number(out, size, at, n) == SIZE_MAX) {
        p3_complain("P3_PROFILE_FILE", "file name too long");
        return -1;
    }
    return make_folders(out);
}
