// Every path that some input takes runs: the functions are called with all pairs of numbers on both sides of all constants.
#include <stdio.h>

int twice(int a, int b) {
    int r = 0;
    if (a > 10) r += 1;
    if (b > 10) r += 2;
    if (a == b) r += 4;
    if (a < 3) r += 8;
    return r;
}

int stored(signed char a, signed char b) {
    int r = 0;
    if (a > 10) r += 1;
    if (b < 0) a = b;
    if (a > 10) r += 2;
    return r;
}

int chosen(unsigned a, unsigned b) {
    int r = 0;
    switch (a) {
    case 1: r += 1; break;
    case 14: r += 2; break;
    default: r += 4;
    }
    if (a >= 12) r += 8;
    if (a == 0) r += 16;
    if (b != a) r += 32;
    return r;
}

int counted(int a, int b) {
    int r = 0;
    for (int i = a; i < b; i += 5) {
        if (i > 10) r += 1;
        if (i < 3) r += 2;
    }
    return r;
}

int main(void) {
    long sum = 0;
    for (int a = -8; a < 17; a++)
        for (int b = -8; b < 17; b++)
            sum += twice(a, b) + stored(a, b) + chosen(a, b) + counted(a, b);
    printf("%ld\n", sum);
    return 0;
}
