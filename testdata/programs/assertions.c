/* Assertions: which way they went is known, though their macro holds branches of its own. */
#include <assert.h>
#include <stdio.h>

__attribute__((noinline)) int checked(int a, int b) {
    assert(a > 0);
    assert(a < 50 && b);
    assert(a == 7 || b < 9);
    if (a > 20)
        assert(b != 5);
    return a * b;
}

int main(void) {
    int sum = 0;
    for (int i = 1; i < 40; i++)
        sum += checked(i, i % 4 + 1);
    printf("%d\n", sum);
    return 0;
}
