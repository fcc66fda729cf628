/* Calls through pointers and from the C library; variable arguments; aliases. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static int by_last_digit(const void *a, const void *b) {
    int x = *(const int *)a % 10, y = *(const int *)b % 10;
    if (x != y)
        return x < y ? -1 : 1;
    return by_value(a, b);
}

int sum(int n, ...) {
    va_list list;
    int total = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        total += i % 2 ? va_arg(list, int) : -va_arg(list, int);
    va_end(list);
    return total;
}

int alternate(int n, ...) __attribute__((alias("sum")));

static int half(int n) {
    return n / 2;
}

static int twice(int n) {
    return n * 2;
}

/* The call comes before anything that is worth counting. */
__attribute__((noinline)) int applied(int (*const *functions)(int), int n) {
    int x = functions[n % 2](n);
    if (x > 50)
        return x - n;
    return x + n;
}

int main(void) {
    int (*volatile const functions[])(int) = {half, twice};
    int (*const orders[])(const void *, const void *) = {by_value, by_last_digit};
    int a[40];
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 40; i++)
            a[i] = (i * 37 + round * 11) % 101;
        qsort(a, 40, sizeof *a, orders[round % 2]);
        printf("%d %d %d\n", a[0], a[39], sum(5, a[1], a[2], a[3], a[4], a[5]));
    }
    printf("%d\n", alternate(3, 1, 2, 3));
    int applications = 0;
    for (int i = 0; i < 90; i++)
        applications += applied((int (*const *)(int))functions, i);
    printf("%d\n", applications);
    return 0;
}
