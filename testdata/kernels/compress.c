/* A text whose repeats become references to what came before, and its way back. compress BYTES TIMES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 1 << 13, LEAST = 4, MOST = 255, WINDOW = 1 << 15, CHAIN = 16 };
static int heads[HEADS], *chain;
static unsigned state = 11;

static unsigned next_random(unsigned below) {
    state = state * 1103515245u + 12345u;
    return (state >> 8) % below;
}

static unsigned hash(const unsigned char *p) {
    unsigned four;
    memcpy(&four, p, sizeof four);
    return four * 2654435761u >> 19;
}

__attribute__((noinline)) static int length_of(const unsigned char *a, const unsigned char *b, const unsigned char *end) {
    int n = 0;
    while (b + n < end && n < MOST && a[n] == b[n])
        n++;
    return n;
}

__attribute__((noinline)) static int find(const unsigned char *text, int at, int size, int *from) {
    int best = 0, tries = CHAIN;
    for (int i = heads[hash(text + at)]; i >= 0 && at - i < WINDOW && tries-- > 0; i = chain[i]) {
        if (best > 0 && text[i + best] != text[at + best])
            continue;
        int n = length_of(text + i, text + at, text + size);
        if (n > best) {
            best = n;
            *from = i;
        }
    }
    return best;
}

static void note(const unsigned char *text, int at) {
    unsigned h = hash(text + at);
    chain[at] = heads[h];
    heads[h] = at;
}

__attribute__((noinline)) static int pack(const unsigned char *text, int size, unsigned char *out) {
    int n = 0, at = 0, from = 0;
    memset(heads, -1, sizeof heads);
    while (at < size) {
        int length = at + LEAST <= size ? find(text, at, size, &from) : 0;
        if (length < LEAST) {
            if (at + LEAST <= size)
                note(text, at);
            out[n++] = 0;
            out[n++] = text[at++];
            continue;
        }
        int back = at - from;
        out[n++] = (unsigned char)length;
        out[n++] = (unsigned char)back;
        out[n++] = (unsigned char)(back >> 8);
        for (int end = at + length; at < end; at++)
            if (at + LEAST <= size)
                note(text, at);
    }
    return n;
}

__attribute__((noinline)) static int unpack(const unsigned char *in, int n, unsigned char *text) {
    int size = 0;
    for (int i = 0; i < n;) {
        if (in[i] == 0) {
            text[size++] = in[i + 1];
            i += 2;
            continue;
        }
        int from = size - (in[i + 1] | in[i + 2] << 8);
        for (int k = in[i]; k > 0; k--)
            text[size++] = text[from++];
        i += 3;
    }
    return size;
}

int main(int argc, char **argv) {
    int size = argc > 1 ? atoi(argv[1]) : 10000, times = argc > 2 ? atoi(argv[2]) : 1;
    unsigned char *text = malloc((size_t)size), *packed = malloc(2 * (size_t)size), *back = malloc((size_t)size);
    chain = malloc((size_t)size * sizeof *chain);
    unsigned long sum = 0;
    for (int t = 0; t < times; t++) {
        for (int i = 0; i < size;) {
            int word = (int)next_random(next_random(4) == 0 ? 2000 : 100);
            for (int k = 0; k < 2 + word % 7 && i < size; k++)
                text[i++] = (unsigned char)('a' + (word * (k + 3) + word / 7) % 26);
            if (i < size)
                text[i++] = ' ';
        }
        int n = pack(text, size, packed);
        if (unpack(packed, n, back) != size || memcmp(text, back, (size_t)size) != 0)
            return 1;
        sum += (unsigned long)n;
    }
    printf("%lu\n", sum);
    return 0;
}
