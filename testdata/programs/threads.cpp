// Interpreters by computed goto where operations throw, catch, and run destructors.
#include <cstdio>
#include <stdexcept>

static int destroyed;

struct Guard {
    int value;
    ~Guard() { destroyed += value; }
};

__attribute__((noinline)) static int fail(int n) {
    if (n % 3 == 2)
        throw std::runtime_error("two");
    if (n % 7 == 6)
        throw n;
    return n + 1;
}

__attribute__((noinline)) static int run(const char *code, int n, int step) {
    static const void *const labels[] = {&&stop, &&add, &&call, &&guarded, &&again};
    int caught = 0, loops = 0;
    goto *labels[*code++ - '0'];
add:
    n += step;
    goto *labels[*code++ - '0'];
call:
    try {
        n = fail(n);
    } catch (const std::runtime_error &) {
        caught++;
        n++;
    }
    goto *labels[*code++ - '0'];
guarded : {
    Guard guard{n};
    n = fail(n + 1);
}
    goto *labels[*code++ - '0'];
again:
    for (int i = 0; i < n % 5; i++)
        caught += i & 1 ? 2 : 0;
    if (++loops < 4)
        code -= 3;
    goto *labels[*code++ - '0'];
stop:
    return n * 10 + caught;
}

/* Its table may be another module's. */
template <int Step> __attribute__((noinline)) int counted(const char *code, int n) {
    static const void *const labels[] = {&&stop, &&add, &&odd};
    goto *labels[*code++ % 3];
add:
    n += Step;
    goto *labels[*code++ % 3];
odd:
    n = fail(n & 1 ? 3 : n);
    goto *labels[*code++ % 3];
stop:
    return n;
}

template <int Step> static void attempt(const char *code, int n) {
    try {
        printf("%d\n", run(code, n, Step));
        printf("%d\n", counted<Step>(code, n));
    } catch (int thrown) {
        printf("thrown %d\n", thrown);
    } catch (const std::exception &e) {
        printf("%s\n", e.what());
    }
}

int main() {
    for (int n = 0; n < 9; n++) {
        attempt<1>("1213240", n);
        attempt<2>("3124110", n);
        attempt<3>("0", n);
    }
    printf("%d\n", destroyed);
}
