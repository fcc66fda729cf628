// Every path that some input takes runs, as in contradictions.c: what decides is often a constant stored before.
#include <stdbool.h>
#include <stdio.h>

int flagged(int a, int b) {
    bool found = false;
    int r = 0;
    if (a > 10) found = true;
    if (b > 10) r += 1;
    if (found) r += 2;
    if (!found) r += 4;
    return r;
}

int joined(int a, int b) {
    bool both = a > 10 && b > 10;
    int r = 0;
    if (b > 10) r += 1;
    if (both) r += 2;
    return r;
}

int negated(int a, int b) {
    int r = 0;
    if (!a) r += 1;
    if (b && a) r += 2;
    if (!(a != 0)) r += 4;
    if (!!b) r += 8;
    return r;
}

int pointed(int *p, int a) {
    int r = 0;
    if (a < 0) p = NULL;
    if (a > 10) r += 1;
    if (p) r += 2;
    return r;
}

int narrowed(int a, int b) {
    signed char state = -1;
    int r = 0;
    if (a > 10) state = 3;
    if (b > 10) state = 2;
    switch (state) {
    case -1: r += 1; break;
    case 2: r += 2; break;
    case 3: r += 4; break;
    default: r += 8;
    }
    return r;
}

// Whether it went round before: optimised, the φ of the first block is asked behind the block that goes back.
__attribute__((noinline)) int repeated(int a, int b) {
    bool seen, again = false;
    do {
        seen = again;
        again = true;
        printf("%d", a);
    } while (a++ < b);
    if (seen) printf("!");
    return a;
}

// The address is elsewhere: nothing is known of what is there.
int set_by(int *to, int value) {
    return *to = value;
}

int escaped(int a, int b) {
    int found = 0;
    int r = set_by(&found, a > 10);
    if (b > 10) r += 1;
    if (found) r += 2;
    return r;
}

int main(void) {
    long sum = 0;
    for (int a = -2; a < 13; a++)
        for (int b = -2; b < 13; b++) {
            sum += flagged(a, b) + joined(a, b) + negated(a, b) + pointed(&a, b) + pointed(NULL, b) + narrowed(a, b);
            sum += repeated(a, b) + escaped(a, b);
        }
    printf("%ld\n", sum);
    return 0;
}
