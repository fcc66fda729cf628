/* An interpreter by computed goto, which stays in one activation: what a shadow counts of it began before. */
#include <stdio.h>

enum { PUSH, ADD, DEC, JNZ, ODD, HALT };

static long run(const int *code, long n) {
    static const void *const labels[] = {&&push, &&add, &&dec, &&jnz, &&odd, &&halt};
    long stack[32], *top = stack;
    const int *pc = code;
    *top++ = n;
    *top++ = 0;
#define NEXT goto *labels[*pc++]
    NEXT;
push:
    *top++ = *pc++;
    NEXT;
add:
    top--;
    top[-1] += *top;
    NEXT;
dec:
    top[-2]--;
    NEXT;
jnz: {
    int to = *pc++;
    if (top[-2] != 0)
        pc = code + to;
    NEXT;
}
odd:
    if (top[-2] & 1)
        top[-1] ^= 5;
    if (top[-2] % 3 == 0)
        top[-1]++;
    NEXT;
halt:
    return top[-1];
}

/* Targets that are also reached directly: they are headers of loops whose addresses are taken. */
static long walk(long n) {
    static const void *const labels[] = {&&odd, &&even, &&done};
    long steps = 0;
    if (n & 1)
        goto odd;
    goto *labels[1 + (n < 2)];
odd:
    steps += 2;
    n = 3 * n + 1;
    if (n % 7 == 0)
        goto even;
    goto *labels[n & 1 ? 0 : 1];
even:
    steps++;
    n /= 2;
    if (n % 5 == 0 && n & 1)
        goto odd;
    goto *labels[n < 2 ? 2 : n & 1 ? 0 : 1];
done:
    return steps;
}

int main(void) {
    static const int code[] = {PUSH, 3, ADD, ODD, DEC, JNZ, 0, HALT};
    printf("%ld\n", run(code, 30000000));
    long steps = 0;
    for (long n = 1; n < 1000000; n++)
        steps += walk(n);
    printf("%ld\n", steps);
    return 0;
}
