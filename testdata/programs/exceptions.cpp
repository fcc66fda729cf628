// Exceptions: nested handlers, rethrow, cleanups, landing pads shared by several calls, through
// frames that do not catch.
#include <cstdio>
#include <stdexcept>
#include <string>

static int live;

struct Guard {
    int id;
    explicit Guard(int id) : id(id) { live++; }
    ~Guard() { live--; }
};

[[gnu::noinline]] static int risky(int n) {
    Guard g(n);
    if (n % 7 == 3)
        throw std::runtime_error("seven");
    if (n % 11 == 5)
        throw n;
    if (n % 13 == 6)
        throw std::string("thirteen");
    return n * 2;
}

[[gnu::noinline]] static int middle(int n) {
    Guard a(1), b(2);
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += risky(n + i);
    return sum + risky(n * 3);
}

[[gnu::noinline]] static int outer(int n) {
    try {
        try {
            return middle(n);
        } catch (int x) {
            if (x % 2)
                throw;
            return -x;
        }
    } catch (const std::exception &e) {
        return e.what()[0];
    } catch (int x) {
        return x + 1000;
    }
}

int main() {
    long sum = 0;
    int strings = 0;
    for (int n = 0; n < 200; n++) {
        try {
            sum += outer(n);
        } catch (...) {
            strings++;
        }
    }
    std::printf("%ld %d %d\n", sum, strings, live);
    return live;
}
