/* Calls in tail position: a path ends before them, so it is complete even if the callee never comes back. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static unsigned seed = 7;
static int left;

static unsigned next(void) { return (seed = seed * 1664525u + 1013904223u) >> 24; }

__attribute__((noinline)) static int leaves(int n) {
    if (n % 3 == 0)
        longjmp(back, n + 1);
    return n * 2;
}

/* Several ways out, which LLVM joins to one return. */
__attribute__((noinline)) static int chooses(int n, int (*callee)(int)) {
    unsigned r = next();
    if (r & 1)
        return leaves(n);
    if (r & 2)
        return callee(n + 1);
    printf("%d\n", n);
    return r & 4 ? 3 : n;
}

__attribute__((noinline)) static void finishes(int n, void (*then)(int)) {
    if (n > 5)
        then(n);
    else
        left += n;
}

__attribute__((noinline)) static void says(int n) { left ^= n; }

#define MAYBE(bit) if (r >> bit & 1) says(sum + bit);

/* More paths than an array has room for. */
__attribute__((noinline)) static int counts_in_table(int n, unsigned r) {
    int sum = n + (r & 1 ? left : 5);
    sum ^= r & 2 ? 7 : left;
    MAYBE(2) MAYBE(3) MAYBE(4) MAYBE(5) MAYBE(6) MAYBE(7) MAYBE(8)
    MAYBE(9) MAYBE(10) MAYBE(11) MAYBE(12) MAYBE(13) MAYBE(14) MAYBE(15)
    MAYBE(16) MAYBE(17) MAYBE(18) MAYBE(19) MAYBE(20) MAYBE(21)
    if (sum & 1)
        return leaves(sum & 0xff);
    if (sum & 2)
        return chooses(sum & 0xff, leaves);
    return sum;
}

static int odd(unsigned n);

__attribute__((noinline)) static int even(unsigned n) {
    if (n == 0)
        return 1;
    return odd(n - 1);
}

__attribute__((noinline)) static int odd(unsigned n) {
    if (n == 0)
        return 0;
    return even(n - 1);
}

__attribute__((noinline)) static int ends(int n) {
    if (n & 1)
        exit(0);
    return n;
}

__attribute__((noinline)) static int last(int n) {
    if (n > 2)
        return ends(n);
    return n;
}

int main(void) {
    volatile int sum = 0;
    for (volatile int i = 0; i < 60; i++) {
        if (setjmp(back)) {
            sum += 1;
            continue;
        }
        finishes(i % 11, says);
        sum += chooses(i, leaves);
        sum += counts_in_table(i, next() << 16 | next() << 8 | next());
    }
    printf("%d %d %d\n", sum, left, even(5001));
    fflush(stdout);
    return last(3);
}
