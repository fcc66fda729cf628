// Conditions of every form, of which reports quote the text.
#include <cstdio>
#include <vector>

#define MACRO_MAX(a, b) ((a) > (b) ? (a) : (b))
#define MACRO_CHECK(x) do { if (!(x)) failed++; } while (0)

static int failed;
static unsigned seed = 1;
static int next() { seed = seed * 1103515245 + 12345; return seed / 65536 % 1000; }
enum Color { RED, GREEN = 5, BLUE };

struct Node { int value; Node *next; };

static int pick(int n, const char *s, Node *p) {
    int r = 0;
    if (n > 3 && s[0] != ')' || p->value)
        r++;
    if ((n > 5 || /* not ( this */ s[1] == '"') && !(n == 7 || p->next == nullptr)) r += 2;
    for (int i = 0; i < n % 5; i++)
        r += i;
    int left = n % 4 + 1;
    while (--left)
        r ^= left;
    do {
        r++;
    } while (r < 10 and next() > 300);
    r += n > 8 ? next() > 500 ? 3 : 4 : 5;
    bool both = r > 3
        && n < 9; // the end )
    if (both
        && next() %
            2 == 0
    ) r = -r;
    if (int z = next(); z != 3) r += z % 3;
    while (int k = next() % 3) r += k;
    r = MACRO_MAX(next(), r);
    MACRO_CHECK(r > 7);
    for (; p; p = p->next) if (p->value > 2) r++; else r--;
    return r > 0 && n;
}

static int cases(char c, Color color) {
    switch (c) {
    case '"': return 1;
    case 'a': case 'b': return 2;
    case '\n':
        return 3;
    default: break;
    }
    switch (color) {
    case RED:
        return 4;
    case GREEN: return 5;
    case BLUE: break;
    }
    return 6;
}

int main() {
    Node last{0, nullptr}, first{3, &last};
    long sum = 0;
    for (int i = 0; i < 400; i++) {
        sum += pick(next() % 12, next() % 2 ? ")\"" : "ab", next() % 3 ? &first : &last);
        sum += cases("\"ab\nx"[next() % 5], next() % 2 ? RED : next() % 2 ? GREEN : BLUE);
    }
    std::vector<int> all{1, 2, 3};
    for (auto &one : all)
        if (auto f = [&](int q) { return q == one || q > 2; }; f(2)) sum += one;
    std::printf("%ld %d\n", sum, failed);
}
