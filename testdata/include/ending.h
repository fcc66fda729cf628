/* A program that ends in the middle of a loop, three frames deep, by END. */
#include <stdio.h>

static int log2_of(unsigned n) {
    int bits = 0;
    while (n >>= 1)
        bits++;
    return bits;
}

static int inner(int n) {
    for (int i = 0; i < 10; i++) {
        if (log2_of((unsigned)(n * i)) == 8)
            END;
        n += i & 1;
    }
    return n;
}

static int outer(int n) {
    int sum = 0;
    do {
        sum += inner(n % 50);
    } while (n-- > 0);
    return sum;
}

int main(void) {
    int sum = 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < 100; i++)
        printf("%d\n", sum += outer(i));
    return 1;
}
