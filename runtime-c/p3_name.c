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

static size_t expand(char *out, size_t size, const char *pattern, uint32_t copy) {
    size_t at = 0;
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

static int names_process(const char *pattern) {
    for (const char *p = strchr(pattern, '%'); p != NULL; p = strchr(p + 2, '%')) {
        if (p[1] == 'p')
            return 1;
        if (p[1] == 0)
            return 0;
    }
    return 0;
}

int p3_file_name(char *out, size_t size, uint32_t copy, int child) {
    const char *pattern = getenv("P3_PROFILE_FILE");
    if (pattern == NULL || *pattern == 0)
        pattern = DEFAULT_PATTERN;
    size_t at = expand(out, size, pattern, copy);
    if (child && !names_process(pattern)) {
        at = append(out, size, at, ".");
        at = at == SIZE_MAX ? at : append_field(out, size, at, 'p', copy);
    }
    if (at == SIZE_MAX) {
        p3_complain("P3_PROFILE_FILE", "file name too long");
        return -1;
    }
    return make_folders(out);
}
