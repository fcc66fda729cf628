// Loops, recursion, exceptions, indirect calls, switches: about a second of them, the same at each run.
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <vector>

static unsigned state = 1;
static unsigned next() { return state = state * 1664525u + 1013904223u, state >> 9; }

__attribute__((noinline)) static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((noinline)) static unsigned nest(unsigned a, unsigned b) {
    unsigned s = 0;
    for (unsigned i = 0; i < a; i++) {
        for (unsigned j = i % 3; j < b; j++) {
            if ((i ^ j) & 4)
                s += j;
            else if (s & 8)
                continue;
            for (unsigned k = j; k > 0; k /= 2)
                s ^= k;
        }
        if (s % 1000 == 999)
            break;
    }
    return s;
}

__attribute__((noinline)) static unsigned thrower(unsigned n) {
    if (n % 5 == 0)
        throw std::runtime_error("five");
    return n * 3;
}

__attribute__((noinline)) static unsigned catcher(unsigned n) {
    unsigned s = 0;
    for (unsigned i = 0; i < n; i++) {
        try {
            s += thrower(next());
        } catch (const std::runtime_error &) {
            s -= i;
        }
    }
    return s;
}

__attribute__((noinline)) static unsigned machine(unsigned steps) {
    unsigned s = 0, at = 0;
    while (steps-- > 0) {
        switch (at) {
        case 0: at = next() % 4; s++; break;
        case 1: at = s & 1 ? 2 : 0; s += 5; break;
        case 2: at = 3; [[fallthrough]];
        case 3: s ^= next(); at = s % 5; break;
        default: at = 0;
        }
    }
    return s;
}

struct Shape {
    virtual ~Shape() = default;
    virtual unsigned area(unsigned n) const = 0;
};
struct Square : Shape {
    unsigned area(unsigned n) const override { return n * n; }
};
struct Odd : Shape {
    unsigned area(unsigned n) const override { return n & 1 ? n : area(n / 2) + 1; }
};

__attribute__((noinline)) static unsigned various(unsigned n, ...) {
    __builtin_va_list all;
    __builtin_va_start(all, n);
    unsigned s = 0;
    for (unsigned i = 0; i < n; i++)
        s = s * 3 + __builtin_va_arg(all, unsigned);
    __builtin_va_end(all);
    return s;
}

__attribute__((noinline)) static double floats(unsigned n) {
    double x = 1, y = 0.5;
    float z = 2;
    for (unsigned i = 1; i < n; i++) {
        x = x / i + y;
        if (x > 1.5)
            y -= 0.001;
        z = z * 0.5f + static_cast<float>(x);
    }
    return x + z;
}

int main() {
    std::vector<std::function<unsigned(unsigned)>> all = {fib, [](unsigned n) { return nest(n, n + 3); }, catcher, machine};
    const Square square;
    const Odd odd;
    const Shape *shapes[] = {&square, &odd};
    unsigned s = 0;
    double d = 0;
    for (unsigned i = 0; i < 6000; i++) {
        s += all[i % 4](i % 4 == 0 ? 9 + i % 5 : 20 + i % 30);
        s ^= shapes[next() % 2]->area(i + 1);
        s += various(i % 4, i, s, i + 1, 5u);
        d += floats(i % 200);
        char room[64 + i % 64];
        room[i % 64] = static_cast<char>(s);
        for (unsigned k = 0; k < sizeof room; k += 16)
            s += static_cast<unsigned>(k + static_cast<unsigned char>(room[i % 64]));
    }
    // What follows is in main alone.
    for (unsigned i = 0; i < 20000000; i++)
        s = s & 2 ? s * 7 + i : s ^ (s >> 3) ^ i;
    std::printf("%u %.6f\n", s, d);
    return 5;
}
