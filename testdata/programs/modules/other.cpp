#include "modules.h"

static int local(int n) { return n % 2 ? n * 2 : n / 2; }

int other(int n) { return clamp(local(n), 2, 9) + Counter<int>::count(n); }

int thrower(int n) {
    if (n % 5 == 4)
        throw n;
    return other(n);
}
