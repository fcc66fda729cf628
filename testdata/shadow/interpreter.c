/* An interpreter by computed goto, which stays in one activation: what a shadow counts of it began before. */
#include "walk.h"
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

int main(void) {
    static const int code[] = {PUSH, 3, ADD, ODD, DEC, JNZ, 0, HALT};
    printf("%ld\n", run(code, 30000000));
    long steps = 0;
    for (long n = 1; n < 1000000; n++)
        steps += walk(n);
    printf("%ld\n", steps);
    return 0;
}
