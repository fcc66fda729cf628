// What random programs call: choices, a checksum, an end.
#include <cstdio>

static unsigned state = 1, sum;
static int fuel;

extern "C" void fz_mix(int value) {
    sum = sum * 31 + (unsigned)value;
    if (--fuel < 0)
        throw 1;
}

extern "C" int fz_next(int n) {
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 12) % (unsigned)n);
}

extern "C" int fz_run(int (*program)(int), int number) {
    int result = -1;
    state = (unsigned)number + 1;
    for (int round = 0; round < 6; round++) {
        fuel = 400;
        try {
            result = program(0);
        } catch (int) {
        }
        sum = sum * 17 + (unsigned)result;
    }
    return result;
}

extern "C" int fz_report() {
    std::printf("%u\n", sum);
    return (int)(sum & 63);
}
