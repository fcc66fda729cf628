/* A threaded interpreter: indirectbr with shared targets. */
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

/* Targets that are also reached directly: their edges from indirectbr are critical. */
static int walk(int n) {
    static const void *const labels[] = {&&odd, &&even, &&done};
    int steps = 0;
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
    static const int sum[] = {PUSH, 0,    PUSH, 40, DUP, PUSH, 3,   ADD, SWAP, PUSH, -1, ADD,
                              SWAP, PUSH, 0,    ADD, SWAP, DEC, JNZ, 17,  HALT};
    printf("%ld\n", run(sum));
    int steps = 0;
    for (int n = 1; n < 60; n++)
        steps += walk(n);
    printf("%d\n", steps);
    return 0;
}
