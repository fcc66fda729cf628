/* Conditions whose paths run through the same lines: nothing but what was true tells them apart. */
#include <stdio.h>

int f(int a, int b) {
    int r = 0;
    if (a > 10) r += 1; else r += 2;
    if (b > 10) r += 4;
    if (!(a == b)) r += 8;
    return r;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += f(i % 20, i / 2);
    printf("%d\n", sum);
    return 0;
}
