/* Fast Fourier transforms there and back, in place, radix 2 (Cooley & Tukey). */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void reverse(double complex *x, int n) {
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex t = x[i];
            x[i] = x[j];
            x[j] = t;
        }
    }
}

static void transform(double complex *x, int n, int sign) {
    reverse(x, n);
    for (int size = 2; size <= n; size *= 2) {
        double complex step = cexp(sign * 2 * M_PI * I / size);
        for (int at = 0; at < n; at += size) {
            double complex w = 1;
            for (int i = 0; i < size / 2; i++) {
                double complex even = x[at + i], odd = x[at + i + size / 2] * w;
                x[at + i] = even + odd;
                x[at + i + size / 2] = even - odd;
                w *= step;
            }
        }
    }
    if (sign > 0)
        for (int i = 0; i < n; i++)
            x[i] /= n;
}

int main(int argc, char **argv) {
    int n = 1 << 16, rounds = argc > 1 ? atoi(argv[1]) : 40;
    double complex *x = malloc(n * sizeof *x);
    for (int i = 0; i < n; i++)
        x[i] = i % 251 + i % 17 * I;
    for (int r = 0; r < rounds; r++) {
        transform(x, n, -1);
        transform(x, n, 1);
    }
    double off = 0;
    for (int i = 0; i < n; i++)
        off = fmax(off, cabs(x[i] - (i % 251 + i % 17 * I)));
    printf("%d points, %d rounds: %s\n", n, rounds, off < 1e-6 ? "right" : "wrong");
    free(x);
    return 0;
}
