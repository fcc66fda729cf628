/* How many letters have to be changed to make one word of another, by a table of two rows. edit_distance LETTERS PAIRS */
#include <stdio.h>
#include <stdlib.h>

static unsigned state = 3;

static unsigned char letter(void) {
    state = state * 1664525u + 1013904223u;
    return (unsigned char)(state >> 24 & 3);
}

__attribute__((noinline)) static int distance(const unsigned char *a, const unsigned char *b, int n, int *rows) {
    int *before = rows, *row = rows + n + 1;
    for (int j = 0; j <= n; j++)
        before[j] = j;
    for (int i = 1; i <= n; i++) {
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            if (a[i - 1] == b[j - 1]) {
                row[j] = before[j - 1];
                continue;
            }
            int least = before[j - 1];
            if (before[j] < least)
                least = before[j];
            if (row[j - 1] < least)
                least = row[j - 1];
            row[j] = least + 1;
        }
        int *t = before;
        before = row;
        row = t;
    }
    return before[n];
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 200, pairs = argc > 2 ? atoi(argv[2]) : 1;
    unsigned char *a = malloc((size_t)n), *b = malloc((size_t)n);
    int *rows = malloc(2 * ((size_t)n + 1) * sizeof *rows);
    long sum = 0;
    for (int p = 0; p < pairs; p++) {
        for (int i = 0; i < n; i++) {
            a[i] = letter();
            b[i] = letter() == 0 ? letter() : a[i];
        }
        sum += distance(a, b, n, rows);
    }
    printf("%ld\n", sum);
    return 0;
}
