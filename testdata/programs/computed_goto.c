/* A threaded interpreter: indirectbr with shared targets. */
#include "walk.h"
#include <stdio.h>

enum { PUSH, ADD, DUP, DEC, JNZ, SWAP, HALT };

static long run(const int *code) {
    static const void *const labels[] = {&&push, &&add, &&dup, &&dec, &&jnz, &&swap, &&halt};
    long stack[32], *top = stack;
    const int *pc = code;
#define NEXT goto *labels[*pc++]
    NEXT;
push:
    *top++ = *pc++;
    NEXT;
add:
    top--;
    top[-1] += *top;
    NEXT;
dup:
    *top = top[-1];
    top++;
    NEXT;
dec:
    top[-1]--;
    if (top[-1] % 5 == 0)
        NEXT;
    NEXT;
jnz: {
    int to = *pc++;
    if (top[-1] != 0)
        pc = code + to;
    NEXT;
}
swap: {
    long t = top[-1];
    top[-1] = top[-2];
    top[-2] = t;
    NEXT;
}
halt:
    return top[-2];
}

int main(void) {
    static const int sum[] = {PUSH, 0,    PUSH, 40, DUP, PUSH, 3,   ADD, SWAP, PUSH, -1, ADD,
                              SWAP, PUSH, 0,    ADD, SWAP, DEC, JNZ, 17,  HALT};
    printf("%ld\n", run(sum));
    long steps = 0;
    for (long n = 1; n < 60; n++)
        steps += walk(n);
    printf("%ld\n", steps);
    return 0;
}
