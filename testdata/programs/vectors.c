/* Loops that an optimiser vectorises. */
#include <stdio.h>

enum { N = 1000 };

static int a[N], b[N];

__attribute__((noinline)) static void add(int n) {
    for (int i = 0; i < n; i++)
        a[i] += b[i] * 3;
}

__attribute__((noinline)) static int sum(int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

int main(void) {
    for (int i = 0; i < N; i++)
        b[i] = i;
    add(N);
    add(N - 1);
    printf("%d %d\n", sum(N), sum(N / 2));
    return 0;
}
