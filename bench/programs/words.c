/* A text is split into words and numbers, counted in a hash table, and matched with patterns that hold * and ?; the
   words are sorted. words WORDS PATTERNS SEED */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, LONGEST = 24 };

struct word {
    struct word *next;
    unsigned count, length;
    char letters[LONGEST + 1];
};

static struct word *buckets[BUCKETS];
static unsigned distinct, state;
static long numbers;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Words of syllables, numbers and punctuation, some of them many times. */
static char *make_text(int words) {
    static const char *const syllables[] = {"ka", "lo", "mi", "tra", "ne", "sto", "u", "ber", "ing",
                                            "Pa", "qui", "den"};
    char *text = malloc((size_t)words * 24 + 1), *at = text;
    for (int i = 0; i < words; i++) {
        if (next_random() % 16 == 0) {
            at += sprintf(at, "%u", next_random() % 10000);
        } else {
            unsigned kept = state;
            if (next_random() % 2)
                state = kept % 997;
            for (unsigned s = 1 + next_random() % 4; s > 0; s--) {
                const char *syllable = syllables[next_random() % 12];
                size_t n = strlen(syllable);
                memcpy(at, syllable, n);
                at += n;
            }
            state = kept + (unsigned)i * 2654435761u;
        }
        if (next_random() % 8 == 0)
            *at++ = ",.;"[next_random() % 3];
        *at++ = i % 12 == 11 ? '\n' : ' ';
    }
    *at = 0;
    return text;
}

static void count_word(const char *letters, unsigned length) {
    unsigned hash = 5381;
    for (unsigned i = 0; i < length; i++)
        hash = hash * 33 ^ (unsigned char)letters[i];
    struct word **at = &buckets[hash % BUCKETS];
    for (; *at != NULL; at = &(*at)->next)
        if ((*at)->length == length && memcmp((*at)->letters, letters, length) == 0) {
            (*at)->count++;
            return;
        }
    struct word *w = calloc(1, sizeof *w);
    memcpy(w->letters, letters, length);
    w->length = length;
    w->count = 1;
    *at = w;
    distinct++;
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static void split(const char *text) {
    while (*text != 0) {
        char word[LONGEST + 1];
        unsigned length = 0;
        if (is_letter(*text)) {
            for (; is_letter(*text); text++)
                if (length < LONGEST)
                    word[length++] = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
            count_word(word, length);
        } else if (*text >= '0' && *text <= '9') {
            long value = 0;
            for (; *text >= '0' && *text <= '9'; text++)
                value = value * 10 + (*text - '0');
            numbers += value;
        } else {
            text++;
        }
    }
}

/* Whether all of `s` is like the pattern: ? is any letter, * any letters. */
static int matches(const char *pattern, const char *s) {
    const char *star = NULL, *resume = NULL;
    while (*s != 0) {
        if (*pattern == '*') {
            star = pattern++;
            resume = s;
        } else if (*pattern == '?' || *pattern == *s) {
            pattern++;
            s++;
        } else if (star != NULL) {
            pattern = star + 1;
            s = ++resume;
        } else {
            return 0;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == 0;
}

/* Sorts by count, then by letters: a heap. */
static int is_before(const struct word *a, const struct word *b) {
    return a->count != b->count ? a->count > b->count : strcmp(a->letters, b->letters) < 0;
}

static void sift(struct word **heap, unsigned n, unsigned at) {
    for (unsigned child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_before(heap[child], heap[child + 1]))
            child++;
        if (!is_before(heap[at], heap[child]))
            return;
        struct word *other = heap[at];
        heap[at] = heap[child];
        heap[child] = other;
    }
}

int main(int argc, char **argv) {
    static const char *const patterns[] = {"*ing", "ka*", "?i*o", "*tra*ne*", "*u??", "m?*be*", "*lo*lo*", "sto*sto"};
    int words = argc > 1 ? atoi(argv[1]) : 5000, rounds = argc > 2 ? atoi(argv[2]) : 8;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    split(make_text(words));
    struct word **all = malloc((distinct + 1) * sizeof *all);
    unsigned n = 0, found = 0;
    for (int b = 0; b < BUCKETS; b++)
        for (struct word *w = buckets[b]; w != NULL; w = w->next)
            all[n++] = w;
    for (int p = 0; p < rounds; p++)
        for (unsigned i = 0; i < n; i++)
            found += matches(patterns[p % 8], all[i]->letters) ? all[i]->count : 0;
    for (unsigned i = n / 2; i-- > 0;)
        sift(all, n, i);
    for (unsigned last = n; last-- > 1;) {
        struct word *top = all[0];
        all[0] = all[last];
        all[last] = top;
        sift(all, last, 0);
    }
    printf("%u %u %ld %s %s\n", n, found, numbers, all[0]->letters, all[n - 1]->letters);
    return 0;
}
