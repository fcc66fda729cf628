/* Cells that live and die on a torus: loops without calls. life SIZE GENERATIONS */
#include <stdio.h>
#include <stdlib.h>

static unsigned char *now, *next;

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 64, generations = argc > 2 ? atoi(argv[2]) : 10;
    unsigned state = 5;
    now = malloc((size_t)n * (size_t)n);
    next = malloc((size_t)n * (size_t)n);
    for (int i = 0; i < n * n; i++) {
        state = state * 1664525u + 1013904223u;
        now[i] = state >> 28 < 5;
    }
    long births = 0, deaths = 0;
    for (int g = 0; g < generations; g++) {
        for (int y = 0; y < n; y++) {
            const unsigned char *above = now + (y == 0 ? n - 1 : y - 1) * n, *row = now + y * n, *below = now + (y == n - 1 ? 0 : y + 1) * n;
            for (int x = 0; x < n; x++) {
                int l = x == 0 ? n - 1 : x - 1, r = x == n - 1 ? 0 : x + 1;
                int around = above[l] + above[x] + above[r] + row[l] + row[r] + below[l] + below[x] + below[r];
                if (row[x]) {
                    if (around < 2 || around > 3) {
                        next[y * n + x] = 0;
                        deaths++;
                    } else {
                        next[y * n + x] = 1;
                    }
                } else if (around == 3) {
                    next[y * n + x] = 1;
                    births++;
                } else {
                    next[y * n + x] = 0;
                }
            }
        }
        unsigned char *t = now;
        now = next;
        next = t;
        /* Something to live for. */
        state = state * 1664525u + 1013904223u;
        for (int i = 0; i < n; i++)
            now[(state >> 4) % (unsigned)n * (unsigned)n + (unsigned)i] ^= (unsigned char)(i % 3 == 0);
    }
    printf("%ld %ld\n", births, deaths);
    return 0;
}
