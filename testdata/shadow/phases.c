/* Two phases in turn, of tight loops: over a table, and of calls. */
#include <stdio.h>
#include <stdlib.h>

static unsigned table[4096];

__attribute__((noinline)) static unsigned sum(unsigned rounds) {
    unsigned all = 0;
    for (unsigned r = 0; r < rounds; r++)
        for (unsigned i = 0; i < 4096; i++)
            all += table[i] += table[i] & 1 ? i : all >> 3;
    return all;
}

__attribute__((noinline)) static unsigned step(unsigned n) { return n & 1 ? 3 * n + 1 : n / 2; }

__attribute__((noinline)) static unsigned walk(unsigned numbers) {
    unsigned steps = 0;
    for (unsigned n = 1; n < numbers; n++)
        for (unsigned at = n; at != 1; at = step(at))
            steps++;
    return steps;
}

int main(int argc, char **argv) {
    unsigned all = 0, rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    for (unsigned i = 0; i < 4096; i++)
        table[i] = i * 2654435761u >> 7;
    for (unsigned r = 0; r < rounds; r++) {
        all += sum(200);
        all ^= walk(4000 + all % 2);
    }
    printf("%u\n", all);
    return 0;
}
