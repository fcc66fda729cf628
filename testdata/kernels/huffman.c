/* A text that is encoded with the fewest bits for its letters, and decoded. huffman LETTERS TIMES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 64, NODES = 2 * LETTERS };
static struct {
    unsigned weight;
    int left, right, parent;
} nodes[NODES];
static unsigned state = 7, code_of[LETTERS], length_of[LETTERS];

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

__attribute__((noinline)) static int least(int n) {
    int best = -1;
    for (int i = 0; i < n; i++)
        if (nodes[i].parent < 0 && nodes[i].weight > 0 && (best < 0 || nodes[i].weight < nodes[best].weight))
            best = i;
    return best;
}

__attribute__((noinline)) static int build(const unsigned char *text, int size) {
    int n = LETTERS;
    memset(nodes, 0, sizeof nodes);
    for (int i = 0; i < NODES; i++)
        nodes[i].parent = nodes[i].left = nodes[i].right = -1;
    for (int i = 0; i < size; i++)
        nodes[text[i]].weight++;
    for (;; n++) {
        int a = least(n);
        nodes[a].parent = n;
        int b = least(n);
        if (b < 0)
            return nodes[a].parent = -1, a;
        nodes[b].parent = n;
        nodes[n].weight = nodes[a].weight + nodes[b].weight;
        nodes[n].left = a;
        nodes[n].right = b;
    }
}

static void number(int at, unsigned code, unsigned length) {
    if (nodes[at].left < 0) {
        code_of[at] = code;
        length_of[at] = length;
        return;
    }
    number(nodes[at].left, code << 1, length + 1);
    number(nodes[at].right, code << 1 | 1, length + 1);
}

__attribute__((noinline)) static long encode(const unsigned char *text, int size, unsigned char *bits) {
    long n = 0;
    for (int i = 0; i < size; i++)
        for (unsigned l = length_of[text[i]]; l > 0; l--)
            bits[n++] = code_of[text[i]] >> (l - 1) & 1;
    return n;
}

__attribute__((noinline)) static unsigned decode(const unsigned char *bits, long n, int root) {
    unsigned sum = 0;
    int at = root;
    for (long i = 0; i < n; i++) {
        at = bits[i] ? nodes[at].right : nodes[at].left;
        if (nodes[at].left < 0) {
            sum = sum * 31 + (unsigned)at;
            at = root;
        }
    }
    return sum;
}

int main(int argc, char **argv) {
    int size = argc > 1 ? atoi(argv[1]) : 10000, times = argc > 2 ? atoi(argv[2]) : 1;
    unsigned char *text = malloc((size_t)size), *bits = malloc((size_t)size * LETTERS);
    unsigned sum = 0;
    for (int t = 0; t < times; t++) {
        for (int i = 0; i < size; i++)
            text[i] = (unsigned char)(__builtin_ctz(next_random() | 1u << 15) * 4 + (int)(next_random() & 3)) % LETTERS;
        int root = build(text, size);
        number(root, 0, 0);
        sum += decode(bits, encode(text, size, bits), root);
    }
    printf("%u\n", sum);
    return 0;
}
