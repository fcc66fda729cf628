/* Calls that surely come back, with loops and recursion, beside such that leave their callers in the middle: by
   longjmp, by a pointer, by exit behind several calls. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static int sum;

/* These come back. */
__attribute__((noinline)) static int count(int n) {
    int bits = 0;
    for (; n > 0; n /= 2)
        bits += n % 2;
    return bits;
}

__attribute__((noinline)) static int descend(int n) {
    if (n <= 0)
        return count(7);
    return n % 3 == 0 ? descend(n - 1) + descend(n - 2) : count(n) + descend(n - 1);
}

__attribute__((noinline)) static int twice(int n) {
    int first = descend(n);
    if (first % 2 == 0)
        first += count(first);
    return first + descend(n / 2);
}

/* These may not. */
__attribute__((noinline)) static void leave(int n) {
    if (count(n) == 3)
        longjmp(back, n);
    sum += descend(n % 5);
}

__attribute__((noinline)) static void stop(int n) {
    if (n > 90) {
        printf("%d\n", sum);
        exit(3);
    }
    sum += twice(n % 11);
}

__attribute__((noinline)) static int through(int n, void (*call)(int)) {
    if (n % 4 == 0)
        sum += twice(n % 13);
    call(n);
    return n % 2 == 0 ? count(n) : 1;
}

int main(void) {
    volatile int at = 0;
    int came = setjmp(back);
    if (came > 0)
        sum += came;
    while (at < 60) {
        at++;
        leave(at);
        sum += through(at, at % 5 == 0 ? leave : stop);
    }
    for (int i = 80;; i++)
        through(i, stop);
}
