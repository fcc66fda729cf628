/* asm goto: edges out of inline assembly, into shared targets, also back to the start of a loop. */
#include <stdio.h>

static int even(int n) {
#ifdef __x86_64__
    __asm__ goto("testl $1, %0\n\tjz %l1" : : "r"(n) : "cc" : yes);
#else
    if (n % 2 == 0)
        goto yes;
#endif
    return 0;
yes:
    return 1;
}

static int steps(int n) {
    int count = 0, big = 0;
again:
    count++;
    if (n > 40)
        big++;
    n = even(n) ? n / 2 : 3 * n + 1;
#ifdef __x86_64__
    __asm__ goto("cmpl $1, %0\n\tjg %l1\n\tjl %l2" : : "r"(n) : "cc" : again, out);
#else
    if (n > 1)
        goto again;
    if (n < 1)
        goto out;
#endif
    if (count > 20)
        goto out;
    return count + big;
out:
    return -count;
}

int main(void) {
    int sum = 0;
    for (int i = 1; i < 60; i++)
        sum = sum * 3 % 10007 + steps(i) + even(i);
    printf("%d\n", sum);
    return 0;
}
