// Loops whose variables are handed over as addresses or computed from sums, and that look whether each iteration follows the one before: where
// a value came over wrong, a path would be counted that no run has.
#include <stdio.h>
#include <stdlib.h>

struct pair {
    int first;
    short second[6];
};
static int columns[32], up[64], down[64];
static long wide[256];
static struct pair pairs[300];
static int seen[40];
static volatile int broken;

__attribute__((noinline)) static void breaks(int where) { broken |= 1 << where; }

// As of queens: `row` is gone in the loop, where `row + 1` and `n` are what calls take.
__attribute__((noinline)) static long place(int row, int n) {
    long found = 0;
    if (row == n)
        return 1;
    seen[row] = 0;
    for (int c = 0; c < n; c++) {
        if (columns[c] || up[row + c] || down[row - c + n]) {
            if (seen[row]++ != c)
                breaks(0);
            continue;
        }
        columns[c] = up[row + c] = down[row - c + n] = 1;
        found += place(row + 1, n);
        columns[c] = up[row + c] = down[row - c + n] = 0;
        if (seen[row]++ != c)
            breaks(1);
    }
    return found;
}

// Indices that begin below zero and at what is known at run time, elements of more than one byte, fields, and arrays within.
__attribute__((noinline)) static long sums(long from, long to, int k) {
    long sum = 0;
    seen[39] = (int)from;
    for (long i = from; i < to; i++) {
        if (pairs[i + 150].second[2] & 1)
            sum += pairs[i + 149].first;
        if (seen[39]++ != (int)i)
            breaks(2);
    }
    seen[38] = (int)(from + 150) * k;
    for (long i = from + 150; i < to + 100; i++) {
        if (wide[i] & 4)
            sum ^= wide[i + 1] + k;
        if (seen[38] != (int)i * k)
            breaks(3);
        seen[38] += k;
    }
    return sum;
}

// Downwards, by threes, and the outer variable in the inner loop by a sum only.
__attribute__((noinline)) static long rows(int n) {
    long sum = 0;
    for (int i = n; i > 0; i--) {
        int before = 63;
        for (long j = 60; j >= 0; j -= 3) {
            if (up[j] + (i + 7) % 5 > 2)
                sum += i + 7;
            if (before - 3 != (int)j)
                breaks(4);
            before = (int)j;
        }
    }
    return sum;
}

int main(int argc, char **argv) {
    int times = argc > 1 ? atoi(argv[1]) : 400;
    long all = 0;
    for (int i = 0; i < 300; i++)
        pairs[i].first = i * i, pairs[i].second[2] = (short)(i * 7 % 11);
    for (int i = 0; i < 256; i++)
        wide[i] = i * 0x123457L;
    for (int t = 0; t < times; t++) {
        all += place(0, 8);
        for (int k = 0; k < 300; k++)
            all += sums(-150 + k % 7, 100 + k % 50, k);
        all += rows(1500);
    }
    printf("%ld %d\n", all, broken);
    return 0;
}
