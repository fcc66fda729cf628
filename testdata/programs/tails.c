/* Inner loops that are left, at their heads, ends and in between, for long ways on, which are taken or not; and a switch with one
 * long case. */
#include <stdio.h>

static unsigned next(unsigned *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 24; }

static int choose(unsigned r, int sum) {
    sum += r & 1 ? 3 : 5;
    sum ^= r & 2 ? 7 : 11;
    sum += r & 4 ? sum / 2 : 13;
    sum ^= r & 8 ? 17 : sum / 3;
    sum += r & 16 ? 19 : 23;
    sum ^= r & 32 ? sum / 5 : 29;
    sum += r & 64 ? 31 : 37;
    sum ^= r & 128 ? 41 : sum / 7;
    return sum & 0xffff;
}

static int tail(int n, unsigned *seed) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        unsigned r;
        while ((r = next(seed)) < 230)
            sum += (int)(r & 3);
        int again;
        do {
            r = next(seed);
            if (r == 77)
                return sum;
            again = r > 60;
            sum ^= again;
        } while (again);
        if (r & 1)
            continue;
        sum += r & 2 ? 3 : 5;
        sum ^= r & 4 ? 7 : 11;
        sum += r & 8 ? 13 : sum / 2;
        sum ^= r & 16 ? sum / 3 : 17;
        sum += r & 32 ? 19 : 23;
        sum ^= r & 2 ? sum / 5 : 29;
        sum += r & 4 ? 31 : 37;
        sum ^= r & 8 ? 41 : sum / 7;
        sum = sum & 1 ? sum + 43 : sum & 0xffff;
    }
    return sum;
}

static int cases(int n, unsigned *seed) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        switch (next(seed) % 16) {
        case 0: sum += choose((unsigned)i, sum); sum = sum & 1 ? choose(next(seed), sum) : sum + 1; break;
        case 1: sum += 1; break;
        case 2: sum ^= 2; break;
        case 3: sum -= 3; break;
        case 4: sum ^= 4; break;
        case 5: sum += 5; break;
        default: sum ^= i;
        }
    return sum;
}

int main(void) {
    unsigned seed = 7;
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += tail(i * 5, &seed) + cases(i * 8, &seed);
    printf("%d\n", sum);
    return 0;
}
