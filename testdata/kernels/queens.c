/* All ways to put n queens on a board of n columns. queens N TIMES */
#include <stdio.h>
#include <stdlib.h>

static int columns[32], up[64], down[64];

__attribute__((noinline)) static long place(int row, int n) {
    long found = 0;
    if (row == n)
        return 1;
    for (int c = 0; c < n; c++) {
        if (columns[c] || up[row + c] || down[row - c + n])
            continue;
        columns[c] = up[row + c] = down[row - c + n] = 1;
        found += place(row + 1, n);
        columns[c] = up[row + c] = down[row - c + n] = 0;
    }
    return found;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 8, times = argc > 2 ? atoi(argv[2]) : 1;
    long found = 0;
    for (int i = 0; i < times; i++)
        found += place(0, n);
    printf("%ld\n", found);
    return 0;
}
