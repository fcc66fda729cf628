/* More paths than an array holds, and more than 64 bits count: hash tables and cut edges. */
#include <stdio.h>

static unsigned next(unsigned *s) { return (*s = *s * 1103515245u + 12345u) >> 16; }

#define STEP(i) if (next(s) & 1) a = a * 3 + i; else a ^= i;
#define STEPS(i) STEP(i) STEP(i + 1) STEP(i + 2) STEP(i + 3) STEP(i + 4)

__attribute__((noinline)) static unsigned twenty(unsigned *s) {
    unsigned a = 1;
    STEPS(0) STEPS(5) STEPS(10) STEPS(15)
    return a;
}

__attribute__((noinline)) static unsigned hundred(unsigned *s) {
    unsigned a = 1;
    STEPS(0) STEPS(5) STEPS(10) STEPS(15) STEPS(20) STEPS(25) STEPS(30) STEPS(35) STEPS(40) STEPS(45)
    for (int i = 0; i < 2; i++) {
        STEPS(50) STEPS(55) STEPS(60) STEPS(65) STEPS(70) STEPS(75) STEPS(80) STEPS(85) STEPS(90)
    }
    STEPS(95)
    return a;
}

int main(void) {
    unsigned seed = 99, sum = 0;
    for (int i = 0; i < 3000; i++)
        sum += twenty(&seed);
    for (int i = 0; i < 300; i++)
        sum ^= hundred(&seed);
    printf("%u\n", sum);
    return 0;
}
