// Coroutines, split by the front end: ramp, resume and destroy functions.
#include <coroutine>
#include <cstdio>

struct Generator {
    struct promise_type {
        int value = 0;
        Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v) { value = v; return {}; }
        void return_void() {}
        void unhandled_exception() { throw; }
    };
    std::coroutine_handle<promise_type> handle;
    ~Generator() { handle.destroy(); }
    bool next() { handle.resume(); return !handle.done(); }
};

static Generator collatz(int n) {
    while (n != 1) {
        co_yield n;
        n = n % 2 ? 3 * n + 1 : n / 2;
        if (n == 52)
            throw n;
    }
}

int main() {
    int sum = 0;
    for (int i = 1; i < 30; i++) {
        Generator g = collatz(i);
        try {
            for (int steps = 0; g.next() && steps < 40; steps++)
                sum += g.handle.promise().value;
        } catch (int x) {
            sum -= x;
        }
    }
    std::printf("%d\n", sum);
}
