/* Functions of unusual kinds: always inlined, weak, naked, with inline assembly and asm goto. */
#include <stdio.h>

__attribute__((always_inline)) static inline int inlined(int n) { return n & 1 ? n * 3 : n / 2; }

__attribute__((weak)) int weak(int n) { return n > 5 ? n - 5 : 0; }

int strong(int n) { return inlined(n) + weak(n); }
extern int other_name(int n) __attribute__((alias("strong")));

#ifdef __x86_64__
__attribute__((naked, noinline)) static int naked(void) { __asm__("movl $42, %eax\n\tret"); }
#else
static int naked(void) { return 42; }
#endif

static int assembler(int n) {
    int m = n;
    __asm__ volatile("" : "+r"(m));
    if (m > 7)
        __asm__ volatile("nop");
    return m;
}

static int jumps(int n) {
    __asm__ goto("" : : : : out);
    n++;
out:
    return n;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 20; i++)
        sum += other_name(i) + naked() + assembler(i) + jumps(i) + inlined(sum);
    printf("%d\n", sum);
    return 0;
}
