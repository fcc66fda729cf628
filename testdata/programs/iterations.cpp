// Loops whose iterations are apart, in functions with more paths than an array holds: several exits, exits in the
// middle, exceptions out of the body, values that live on behind the loop, loops in loops, scopes of restrict.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static unsigned state = 1;
[[gnu::noinline]] static unsigned next() { return state = state * 1103515245u + 12345u, state >> 16; }

// 2^20 ways on behind the loop.
[[gnu::noinline]] static unsigned mix(unsigned y, unsigned i) { return y * 33 + i; }
#define STEP(i) if (x >> i & 1) y = mix(y, i);
#define STEPS(x) STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11) \
    STEP(12) STEP(13) STEP(14) STEP(15) STEP(16) STEP(17) STEP(18) STEP(19)

[[gnu::noinline]] static unsigned exits(unsigned n) {
    unsigned y = 0, last = 0, x = n;
    for (unsigned i = 0; i < n; i++) {
        unsigned v = next();
        if (v % 5 == 0) y += v; else y -= i;
        if (v % 97 == 1) { last = v; break; }
        if (v % 7 == 2) { y ^= 0x55; continue; }
        if (v % 101 == 3) return y + i;
        last = v ^ y;
    }
    x ^= last;
    STEPS(x)
    return y;
}

[[gnu::noinline]] static unsigned check(unsigned v) {
    if (v % 89 == 7) throw std::runtime_error("89");
    return v % 3;
}

[[gnu::noinline]] static unsigned throws(unsigned n) {
    unsigned y = 0, x = n, i = 0;
    try {
        for (; i < n; i++) {
            unsigned v = next();
            y += check(v) ? v : i;
            if (v & 4) y ^= i;
        }
    } catch (const std::runtime_error &) {
        x += i;
    }
    STEPS(x)
    return y;
}

[[gnu::noinline]] static unsigned caught_inside(unsigned n) {
    unsigned y = 0, x = n;
    for (unsigned i = 0; i < n; i++) {
        try {
            y += check(next());
        } catch (const std::runtime_error &) {
            y += 1000;
            if (i & 1) continue;
        }
        y ^= i;
    }
    STEPS(x)
    return y;
}

static inline void add(unsigned *__restrict a, const unsigned *__restrict b, unsigned i) {
    if (b[i] & 1) a[i] += b[i]; else a[i] -= 1;
}

[[gnu::noinline]] static unsigned nest(unsigned n) {
    unsigned a[16] = {}, b[16], y = 0, x = n;
    for (unsigned i = 0; i < 16; i++) b[i] = next();
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < 16; j++) {
            add(a, b, j);
            if (a[j] % 13 == 5) break;
        }
        unsigned k = 0;
        while (k < 16 && a[k] != i) k++;
        y += k;
        do { y = y * 3 + 1; } while (y & 7 && y % 5);
    }
    STEPS(x)
    return y + a[3];
}

int main(int argc, char **argv) {
    unsigned n = argc > 1 ? atoi(argv[1]) : 60, sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum = sum * 31 + exits(i) + throws(i * 2) + caught_inside(i) + nest(i % 20);
    printf("%u\n", sum);
    return 0;
}
