/* Text compressed by a table of strings that grows (after Welch), and decompressed. lzw LETTERS ROUNDS SEED */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 14, CODES = 1 << BITS, SLOTS = 1 << 16, CLEAR = 256, END = 257, FIRST = 258 };

struct stream {
    unsigned char *bytes;
    size_t at;
    unsigned long held;
    int bits;
};

static struct {
    int code, prefix, letter;
} slots[SLOTS];
static int prefix_of[CODES];
static unsigned char letter_of[CODES];
static unsigned state;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void write_code(struct stream *s, int code, int width) {
    s->held |= (unsigned long)code << s->bits;
    for (s->bits += width; s->bits >= 8; s->bits -= 8) {
        s->bytes[s->at++] = (unsigned char)s->held;
        s->held >>= 8;
    }
}

static int read_code(struct stream *s, int width) {
    for (; s->bits < width; s->bits += 8)
        s->held |= (unsigned long)s->bytes[s->at++] << s->bits;
    int code = (int)(s->held & ((1ul << width) - 1));
    s->held >>= width;
    s->bits -= width;
    return code;
}

/* The slot of a string, or the free one where it belongs. */
static int find(int prefix, int letter) {
    unsigned at = ((unsigned)prefix * 40503u ^ (unsigned)letter * 9973u) % SLOTS;
    while (slots[at].code != 0 && (slots[at].prefix != prefix || slots[at].letter != letter))
        at = (at + 1) % SLOTS;
    return (int)at;
}

static size_t compress(const unsigned char *text, size_t n, unsigned char *to) {
    struct stream s = {to, 0, 0, 0};
    int width = 9, next = FIRST, prefix = text[0];
    memset(slots, 0, sizeof slots);
    for (size_t i = 1; i < n; i++) {
        int slot = find(prefix, text[i]);
        if (slots[slot].code != 0) {
            prefix = slots[slot].code;
            continue;
        }
        write_code(&s, prefix, width);
        if (next < CODES) {
            slots[slot].code = next;
            slots[slot].prefix = prefix;
            slots[slot].letter = text[i];
            if (next++ == 1 << width && width < BITS)
                width++;
        } else {
            write_code(&s, CLEAR, width);
            memset(slots, 0, sizeof slots);
            width = 9;
            next = FIRST;
        }
        prefix = text[i];
    }
    write_code(&s, prefix, width);
    if (next == 1 << width && width < BITS)
        width++;
    write_code(&s, END, width);
    write_code(&s, 0, 7);
    return s.at;
}

static size_t decompress(unsigned char *from, unsigned char *text) {
    struct stream s = {from, 0, 0, 0};
    unsigned char string[CODES];
    int width = 9, next = FIRST, last = -1, first = 0;
    size_t n = 0;
    for (int code; (code = read_code(&s, width)) != END;) {
        if (code == CLEAR) {
            width = 9;
            next = FIRST;
            last = -1;
            continue;
        }
        int length = 0, at = code;
        if (last >= 0 && code == next) {
            string[length++] = (unsigned char)first;
            at = last;
        }
        for (; at >= FIRST; at = prefix_of[at])
            string[length++] = letter_of[at];
        first = at;
        text[n++] = (unsigned char)at;
        while (length > 0)
            text[n++] = string[--length];
        if (last >= 0 && next < CODES) {
            prefix_of[next] = last;
            letter_of[next++] = (unsigned char)first;
        }
        if (next == 1 << width && width < BITS)
            width++;
        last = code;
    }
    return n;
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? (size_t)atol(argv[1]) : 100000;
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (n < 2)
        return 1;
    unsigned char *text = malloc(n), *packed = malloc(2 * n + 64), *back = malloc(n);
    unsigned long sum = 0;
    for (int r = 0; r < rounds; r++) {
        for (size_t i = 0; i < n; i++) {
            unsigned pick = next_random();
            text[i] = i > 64 && pick % 8 != 0 ? text[i - 1 - (pick >> 3) % 3 * 16]
                                              : (unsigned char)('a' + pick / 8 % 26);
        }
        size_t size = compress(text, n, packed);
        if (decompress(packed, back) != n || memcmp(text, back, n) != 0)
            return 1;
        for (size_t i = 0; i < size; i += 7)
            sum = sum * 31 + packed[i];
        sum += size;
    }
    printf("%lu\n", sum);
    return 0;
}
