/* Regular expressions that are tried at each letter of a text, with a way back. matcher LETTERS TIMES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned state = 17;
static int here(const char *pattern, const char *text);

/* `.`, `*`, `?`, `$`, and `[abc]`. */
static int one(const char *pattern, char c, int *width) {
    if (*pattern != '[') {
        *width = 1;
        return c != 0 && (*pattern == '.' || *pattern == c);
    }
    int found = 0, n = 1;
    for (; pattern[n] != ']'; n++)
        found |= pattern[n] == c;
    *width = n + 1;
    return found && c != 0;
}

__attribute__((noinline)) static int many(const char *one_of, const char *rest, const char *text) {
    int width, n = 0;
    while (one(one_of, text[n], &width))
        n++;
    for (; n >= 0; n--)
        if (here(rest, text + n))
            return 1;
    return 0;
}

__attribute__((noinline)) static int here(const char *pattern, const char *text) {
    int width;
    if (*pattern == 0)
        return 1;
    if (*pattern == '$' && pattern[1] == 0)
        return *text == 0;
    int is = one(pattern, *text, &width);
    switch (pattern[width]) {
    case '*':
        return many(pattern, pattern + width + 1, text);
    case '?':
        return (is && here(pattern + width + 1, text + 1)) || here(pattern + width + 1, text);
    default:
        return is && here(pattern + width, text + 1);
    }
}

int main(int argc, char **argv) {
    static const char *const patterns[] = {"ab*c", "[abc]*d", "a.c?e", "e[ab]*e", "b?c?d?e?a", "dd*e$", "[ad]b.*ce"};
    enum { PATTERNS = sizeof patterns / sizeof *patterns, LINE = 60 };
    int size = argc > 1 ? atoi(argv[1]) : 1000, times = argc > 2 ? atoi(argv[2]) : 1;
    char *text = malloc((size_t)size + 1);
    long found[PATTERNS] = {0};
    for (int t = 0; t < times; t++) {
        for (int i = 0; i < size; i++) {
            state = state * 1664525u + 1013904223u;
            text[i] = i % LINE == LINE - 1 ? 0 : (char)('a' + (state >> 16) % 5);
        }
        text[size] = 0;
        for (int p = 0; p < PATTERNS; p++)
            for (int i = 0; i < size; i++)
                found[p] += here(patterns[p], text + i);
    }
    for (int p = 0; p < PATTERNS; p++)
        printf("%ld%c", found[p], p + 1 < PATTERNS ? ' ' : '\n');
    return 0;
}
