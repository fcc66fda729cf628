/* Flips of the first ones of all permutations, as long as the first is not 0. permutations N TIMES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int best;
static long sum;

__attribute__((noinline)) static int flips(const int *from, int n) {
    int p[16], count = 0;
    memcpy(p, from, (size_t)n * sizeof *p);
    for (int first = p[0]; first != 0; first = p[0]) {
        for (int i = 0, j = first; i < j; i++, j--) {
            int t = p[i];
            p[i] = p[j];
            p[j] = t;
        }
        count++;
    }
    return count;
}

__attribute__((noinline)) static void permute(int *p, int k, int n) {
    if (k == n) {
        int f = flips(p, n);
        sum += f;
        best = f > best ? f : best;
        return;
    }
    for (int i = k; i < n; i++) {
        int t = p[k];
        p[k] = p[i];
        p[i] = t;
        permute(p, k + 1, n);
        t = p[k];
        p[k] = p[i];
        p[i] = t;
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 8, times = argc > 2 ? atoi(argv[2]) : 1, p[16];
    for (int t = 0; t < times; t++) {
        for (int i = 0; i < n; i++)
            p[i] = i;
        permute(p, 0, n);
    }
    printf("%d %ld\n", best, sum);
    return 0;
}
