// Destructors that throw, rethrow from nested handlers, exceptions in constructors and from
// functions that must not throw, function try blocks.
#include <cstdio>
#include <exception>
#include <vector>

struct Thrower {
    int id;
    explicit Thrower(int id) : id(id) {
        if (id % 9 == 4)
            throw id;
    }
    ~Thrower() noexcept(false) {
        if (id % 7 == 3 && std::uncaught_exceptions() == 0)
            throw id * 1000;
    }
};

struct Member {
    Thrower a;
    std::vector<int> v;
    Member(int n) try : a(n), v(static_cast<size_t>(n % 5), n) {
        if (n % 11 == 10)
            throw 'x';
    } catch (int x) {
        throw x + 1;
    }
};

[[gnu::noinline]] static int build(int n) {
    Thrower first(n);
    Member member(n + 1);
    int sum = 0;
    for (int i : member.v) {
        if (i % 4 == 2)
            throw 3.5;
        sum += i;
    }
    return sum;
}

[[gnu::noinline]] static int nested(int n) {
    try {
        try {
            return build(n);
        } catch (int x) {
            if (x > 500)
                throw;
            try {
                return build(x);
            } catch (...) {
                std::printf("inner %d\n", x);
                throw;
            }
        }
    } catch (double d) {
        return static_cast<int>(d * 2);
    } catch (char c) {
        return c;
    }
}

int main() {
    long sum = 0;
    for (int n = 0; n < 120; n++) {
        try {
            sum += nested(n);
        } catch (int x) {
            sum -= x;
        } catch (...) {
            sum += 7;
        }
    }
    std::printf("%ld\n", sum);
}
