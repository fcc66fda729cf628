/* A reader of records that are nearly all alike: more paths than an array holds, few of which run. Fields of a structure are used on both. */
#include <stdio.h>

struct state {
    unsigned kind, length, depth, flags, sum, errors, escapes, pairs;
    unsigned long total;
    unsigned char last[8];
};

static unsigned next(unsigned *s) { return (*s = *s * 1103515245u + 12345u) >> 16; }

#define WHERE(bit, code) if (c & (1u << bit)) { code; }

__attribute__((noinline)) static int record(struct state *s, unsigned *seed, int n) {
    int left = 0;
    for (int i = 0; i < n; i++) {
        unsigned c = next(seed) & 15;
        if (next(seed) % 50 == 0)
            c |= next(seed);
        WHERE(0, s->kind += s->last[i & 7])
        WHERE(1, s->length ^= c)
        WHERE(2, if (s->depth > c) left++)
        WHERE(3, s->depth++)
        WHERE(4, s->flags |= c; if (s->flags == 7) break)
        WHERE(5, s->sum += s->depth)
        WHERE(6, s->errors++)
        WHERE(7, s->escapes += s->errors)
        WHERE(8, s->pairs++; for (unsigned j = 0; j < (c & 3); j++) s->last[j] ^= s->pairs)
        WHERE(9, s->total += s->sum)
        WHERE(10, s->last[c & 7]++)
        WHERE(11, if (s->kind == c) return -1)
        WHERE(12, s->depth >>= 1)
        WHERE(13, s->sum ^= s->escapes)
        WHERE(14, printf("%u\n", s->sum))
        s->total += s->length + (unsigned)i;
    }
    return left;
}

int main(void) {
    struct state s = {0};
    unsigned seed = 7;
    int left = 0;
    for (int i = 0; i < 400; i++)
        left += record(&s, &seed, 40);
    printf("%d %lu %u %u %u\n", left, s.total, s.sum, s.flags, s.last[3]);
    return 0;
}
