/* setjmp and longjmp: back into a loop, through frames, with paths under way abandoned. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf env;
static volatile int depth;

static int deep(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (n == 3 && i == 2) {
            depth = n;
            longjmp(env, i + 1);
        }
        sum += i % 2 ? deep(n - 1) : i;
    }
    return sum;
}

static int attempt(int n) {
    volatile int tries = 0;
    int code = setjmp(env);
    if (code != 0 && ++tries > 4)
        return -code;
    for (int i = 0; i < n; i++) {
        if (i + tries > 6)
            break;
        tries += deep(i) > 2;
    }
    return tries;
}

int main(void) {
    int sum = 0;
    for (int n = 0; n < 9; n++)
        sum += attempt(n) * n;
    printf("%d %d\n", sum, depth);
    return 0;
}
