// Several modules: functions that every module may define, local functions of one name, calls and
// exceptions across modules.
#include "modules.h"
#include <cstdio>

extern "C" int plain(int (*call)(int), int n);

static int local(int n) { return n > 3 ? n - 3 : n; }

int main() {
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        sum += clamp(i, 4, 12) + other(i) + local(i);
        try {
            sum += plain(thrower, i);
            sum += thrower(i);
        } catch (int x) {
            sum -= x;
        }
    }
    std::printf("%d %d\n", sum, Counter<int>::count(sum));
}
