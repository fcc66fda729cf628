/* Loops over operations, of which one has far more paths than an array holds and others have few: an array counts what
 * ends behind those, a hash table what ends behind the large one. */
#include <stdio.h>
#include <stdlib.h>

static unsigned seed = 5;

static unsigned next(void) { return (seed = seed * 1664525u + 1013904223u) >> 16; }

#define STEP(i)                                                                                              \
    if (next() & 1)                                                                                          \
        a = a * 3 + i;                                                                                       \
    else                                                                                                     \
        a ^= i;
#define SIX(i) STEP(i) STEP(i + 1) STEP(i + 2) STEP(i + 3) STEP(i + 4) STEP(i + 5)
#define EIGHTEEN(i) SIX(i) SIX(i + 6) SIX(i + 12)

#define OPERATIONS(LARGE)                                                                                    \
    case 0:                                                                                                  \
        a++;                                                                                                 \
        break;                                                                                               \
    case 1:                                                                                                  \
        if (a & 8)                                                                                           \
            a += next();                                                                                     \
        break;                                                                                               \
    case 2:                                                                                                  \
        STEP(1)                                                                                              \
        STEP(2)                                                                                              \
        if (a == 12345)                                                                                      \
            exit(3);                                                                                         \
        break;                                                                                               \
    case 3:                                                                                                  \
        LARGE break;                                                                                         \
    case 4:                                                                                                  \
        if (a % 5 == 0)                                                                                      \
            continue;                                                                                        \
        a -= 3;                                                                                              \
        break;                                                                                               \
    default:                                                                                                 \
        if (a % 7 == 0)                                                                                      \
            goto done;

/* Ids below 2^32. */
__attribute__((noinline)) static unsigned small(unsigned a, int n) {
    for (int i = 0; i < n; i++) {
        if (a & 1)
            a += 5;
        switch (next() % 6) { OPERATIONS(EIGHTEEN(3)) }
        STEP(7)
    }
done:
    return a;
}

/* Larger ones. */
__attribute__((noinline)) static unsigned large(unsigned a, int n) {
    for (int i = 0; i < n; i++) {
        switch (next() % 6) { OPERATIONS(EIGHTEEN(3) EIGHTEEN(30)) }
    }
done:
    return a;
}

/* Mostly operations with many paths. */
__attribute__((noinline)) static unsigned rarely(unsigned a, int n) {
    while (n-- > 0) {
        if (next() % 16 == 0) {
            if (a & 2)
                a += 9;
            continue;
        }
        EIGHTEEN(11)
        if (a % 11 == 0)
            return a;
    }
    return a + 1;
}

/* Jumps whose edges cannot be split. */
__attribute__((noinline)) static unsigned jumps(unsigned a, int n) {
    static void *const labels[] = {&&add, &&test, &&large, &&stop};
    goto *labels[next() % 3];
add:
    a += 3;
    goto *labels[n-- > 0 ? next() % 3 : 3];
test:
    if (a & 4)
        a ^= 17;
    goto *labels[n-- > 0 ? next() % 3 : 3];
large:
    EIGHTEEN(5)
    goto *labels[n-- > 0 ? next() % 3 : 3];
stop:
    return a;
}

int main(void) {
    unsigned sum = 0;
    for (int i = 0; i < 200; i++)
        sum = sum * 31 + small(i, 20) + large(i + 1, 20) + rarely(i + 2, 9) + jumps(i + 3, 9);
    printf("%u\n", sum);
    return 0;
}
