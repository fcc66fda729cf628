/* The demo: counts words, numbers and lines of a text that it makes up, and sorts the words.
 * A loop with several branches, so that block counts alone do not tell the paths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { SPACE, WORD, NUMBER, OTHER };

struct counts {
    unsigned long words, numbers, lines, others;
};

static enum kind classify(int c) {
    if (c == ' ' || c == '\n')
        return SPACE;
    if (c >= 'a' && c <= 'z')
        return WORD;
    return c >= '0' && c <= '9' ? NUMBER : OTHER;
}

static struct counts scan(const char *text, size_t n) {
    struct counts counts = {0, 0, 0, 0};
    enum kind before = SPACE;
    for (size_t i = 0; i < n; i++) {
        enum kind kind = classify(text[i]);
        if (text[i] == '\n')
            counts.lines++;
        if (kind != before) {
            switch (kind) {
            case WORD:
                counts.words++;
                break;
            case NUMBER:
                counts.numbers++;
                break;
            case OTHER:
                counts.others++;
                break;
            case SPACE:
                break;
            }
        }
        before = kind;
    }
    return counts;
}

static void fill(char *text, size_t n, unsigned seed) {
    static const char letters[] = "etaoinshr dlu 0123\n.,";
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1103515245u + 12345u;
        text[i] = letters[(seed >> 16) % (sizeof letters - 1)];
    }
}

static void sort(char **words, size_t n) {
    for (size_t gap = n / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            char *word = words[i];
            size_t j = i;
            for (; j >= gap && strcmp(words[j - gap], word) > 0; j -= gap)
                words[j] = words[j - gap];
            words[j] = word;
        }
}

static size_t split(char *text, char **words, size_t max) {
    size_t n = 0;
    for (char *w = strtok(text, " \n.,0123"); w && n < max; w = strtok(NULL, " \n.,0123"))
        words[n++] = w;
    return n;
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    char *text = malloc(n + 1);
    char **words = malloc((n + 1) * sizeof *words);
    if (!text || !words)
        return 1;
    fill(text, n, 42);
    text[n] = 0;
    struct counts c = scan(text, n);
    printf("%lu words, %lu numbers, %lu lines, %lu others\n", c.words, c.numbers, c.lines, c.others);
    size_t m = split(text, words, n);
    sort(words, m);
    if (m > 0)
        printf("first %s, last %s\n", words[0], words[m - 1]);
    free(words);
    free(text);
    return 0;
}
