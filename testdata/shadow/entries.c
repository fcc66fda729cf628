/* Functions whose first instruction has one byte (push rbx, push rax), of a few instructions: many signals of the timer come between the first and the second one. */
#include <stdio.h>

__attribute__((noinline)) static unsigned last(unsigned x) { return x * 5 + 1; }

__attribute__((noinline)) static unsigned kept(unsigned x) { return last(x) ^ x; }

__attribute__((noinline)) static unsigned chosen(unsigned x) {
    if (x & 1)
        return kept(x) + 1;
    return last(x) + kept(x);
}

__attribute__((noinline)) static unsigned looping(unsigned x) {
    unsigned n = 0;
    do
        n = last(n) + x;
    while (n < 1000);
    return n;
}

int main(void) {
    unsigned x = looping(1);
    for (unsigned i = 0; i < 200000000; i++)
        x = chosen(x + i);
    printf("%u\n", x);
    return 0;
}
