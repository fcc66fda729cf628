/* One activation that runs long and calls nothing, which is seen at its loop alone; then, or instead, many that are
 * short, seen at their entry. A linker may fold two of the functions. */
#include <stdio.h>

__attribute__((noinline)) static unsigned alone(unsigned s) {
    for (unsigned i = 0; i < 75000000; i++)
        s = s & 1 ? s * 5 + i : s / 2 + (i ^ 7);
    return s;
}

__attribute__((noinline)) unsigned step(unsigned s, unsigned i) { return s & 1 ? s * 5 + i : s / 2 + (i ^ 7); }
__attribute__((noinline)) unsigned same(unsigned s, unsigned i) { return s & 1 ? s * 5 + i : s / 2 + (i ^ 7); }

int lengthy(int only_short) {
    unsigned s = only_short ? 1 : alone(1);
    for (unsigned i = 0; i < 20000000; i++)
        s = i % 3 ? step(s, i) : same(s, i);
    printf("%u\n", s);
    return 3;
}
