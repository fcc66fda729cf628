/* Nested loops, several exits, continue, loops that run zero times, self loops. */
#include <stdio.h>

static unsigned next(unsigned *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 24; }

static int nest(int n, unsigned *seed) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            unsigned r = next(seed);
            if (r < 40)
                continue;
            if (r > 250)
                break;
            do {
                sum += (int)(r & 3);
                r >>= 2;
                if (sum % 97 == 0)
                    goto out;
            } while (r);
        }
        while (sum & 8)
            sum -= 3;
    }
out:
    return sum;
}

static int find(const int *a, int n, int x) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] == x)
            return middle;
        if (a[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static unsigned gcd(unsigned a, unsigned b) {
    while (b) {
        unsigned t = a % b;
        a = b;
        b = t;
    }
    return a;
}

int main(void) {
    unsigned seed = 7;
    int a[64], total = 0;
    for (int i = 0; i < 64; i++)
        a[i] = i * 3;
    for (int n = 0; n < 20; n++)
        total += nest(n, &seed);
    for (int x = 0; x < 200; x++)
        total += find(a, 64, x) * (int)gcd((unsigned)x + 1, 36);
    printf("%d\n", total);
    return total & 63;
}
