/* Heap sort of pseudo-random numbers (Williams, Floyd). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void sift(uint32_t *a, size_t root, size_t n) {
    uint32_t v = a[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && a[child] < a[child + 1])
            child++;
        if (v >= a[child])
            break;
        a[root] = a[child];
    }
    a[root] = v;
}

static void sort(uint32_t *a, size_t n) {
    for (size_t i = n / 2; i-- > 0;)
        sift(a, i, n);
    while (n-- > 1) {
        uint32_t t = a[0];
        a[0] = a[n];
        a[n] = t;
        sift(a, 0, n);
    }
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    uint32_t *a = malloc(n * sizeof *a), x = 1;
    for (size_t i = 0; i < n; i++)
        a[i] = x = x * 1664525 + 1013904223;
    sort(a, n);
    for (size_t i = 1; i < n; i++)
        if (a[i - 1] > a[i])
            return 1;
    printf("%zu numbers in order\n", n);
    free(a);
    return 0;
}
