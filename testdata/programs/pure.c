/* Functions that promise to touch no memory: with counters they do, and no call may be merged,
 * moved or dropped on the strength of the promise. */
#include <stdio.h>

__attribute__((const, noinline)) static int steps(int n) {
    int count = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        count++;
    }
    return count;
}

__attribute__((pure, noinline)) static int largest(const int *a, int n) {
    int best = a[0];
    for (int i = 1; i < n; i++)
        if (a[i] > best)
            best = a[i];
    return best;
}

__attribute__((const, noinline)) static int twice(int n) { return steps(n) + steps(n); }

static int through(int (*f)(int), int n) { return f(n) + f(n); }

int main(void) {
    int a[] = {3, 1, 4, 1, 5, 9, 2, 6}, sum = 0;
    for (int i = 1; i < 30; i++) {
        steps(i);
        twice(27);
        sum += steps(27) + largest(a, 8) + largest(a, 8) + twice(i);
        sum += through(i % 2 ? steps : twice, 9);
    }
    printf("%d\n", sum);
    return 0;
}
