/* Recursion: simple, mutual, deep, through pointers; activations must not share a register. */
#include <stdio.h>

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }

static int ackermann(int m, int n) {
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static int walk(int n, int (*visit)(int)) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3 == 2)
            sum += walk(n - i - 1, visit);
        sum += visit(i);
    }
    return sum;
}

static int visit(int i) { return i & 1 ? i : -i; }

int main(void) {
    int a = fib(15), b = even(100), c = ackermann(2, 5), d = walk(14, visit);
    printf("%d %d %d %d\n", a, b, c, d);
    return 0;
}
