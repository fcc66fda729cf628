/* Short loops, some of which are there several times: run zero times, once, and often; signed and unsigned, up and down;
 * left by breaks, calls, longjmp and return; in loops around them; with small functions called in each iteration. */
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf env;
static volatile unsigned seen;

static unsigned next(unsigned *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 16; }

static __attribute__((noinline)) int small(int x) { return x % 3 == 0 ? x / 3 : x + 1; }

/* Anyone might call it. */
__attribute__((noinline)) int leaves(int x) {
    if (x % 41 == 40)
        longjmp(env, 1);
    return x & 1;
}

int (*volatile chosen)(int) = small;

static __attribute__((noinline)) unsigned times(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i != n; i++)
        sum += seen += i;
    return sum;
}

static __attribute__((noinline)) int down(int from, int to) {
    int sum = 0;
    for (int i = from; i >= to; i -= 3)
        sum ^= (int)(seen += (unsigned)i);
    return sum;
}

static __attribute__((noinline)) int find(const int *a, int n, int x) {
    for (int i = 0; i < n; i++)
        if (a[i] == x)
            return i;
    return -1;
}

/* The inner loop runs as often as the outer one has run. */
static __attribute__((noinline)) int triangle(const int *a, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            sum += a[j] > a[i] ? small(a[i]) : 1;
        if (sum % 7 == 0)
            continue;
        do
            sum = chosen(sum);
        while (sum % 5 != 0 && sum > 10);
    }
    return sum;
}

static __attribute__((noinline)) int abandons(int n) {
    volatile int done = 0;
    if (setjmp(env) != 0)
        return -done;
    for (int i = 0; i < n; i++)
        done += leaves(i);
    return done;
}

static __attribute__((noinline)) int jumps_out(int from) {
    int sum = 0;
    for (int i = from; i < 300; i++)
        sum += leaves(i) + small(i);
    return sum;
}

static __attribute__((noinline)) int attempt(int from) {
    if (setjmp(env) != 0)
        return -1;
    return jumps_out(from);
}

int main(void) {
    unsigned seed = 7;
    int a[64], sum = 0;
    for (int i = 0; i < 64; i++)
        a[i] = (int)(next(&seed) % 100);
    for (unsigned n = 0; n < 40; n++)
        sum += (int)(times(next(&seed) % 12) & 15);
    sum += (int)times(100);
    for (int i = 0; i < 30; i++) {
        sum += down((int)(next(&seed) % 40), 20) & 7;
        sum += find(a, 64, (int)(next(&seed) % 120)) + attempt(i * 7);
    }
    sum += down(INT_MIN + 8, INT_MIN + 3);
    printf("%d %d %d %u\n", triangle(a, 24), abandons(50), sum, seen);
    return 0;
}
