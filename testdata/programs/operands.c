// Conditions of `if`: compilers differ in where they put the branch on each operand.
#include <stdio.h>
#include <string.h>

struct node {
    int value;
    const struct node *next;
};

__attribute__((noinline)) static int odd(int n) { return n & 1; }

__attribute__((noinline)) static int compared(const struct node *p, int a, int b, int c) {
    int r = 0;
    if (a == 3) r += 1;
    if (a + b > c - 2) r += 2;
    if (3 <= a) r += 3;
    if ((int)a != 4) r += 4;
    if (a & 4) r += 5;
    if ((r = odd(b) + r) > 9) r += 6;
    if (p->next == p) r += 7;
    if (p->next->value) r += 8;
    if (odd(a)) r += 9;
    if (!odd(b)) r += 10;
    if (a - 2
        < b) r += 11;
    return r;
}

__attribute__((noinline)) static int joined(const struct node *p, int a, int b, int c, const char *s) {
    int r = 0;
    if (a > 3 || b > 3) r += 1;
    if (a > 3 && b > 3) r += 2; else r += odd(a);
    if (a > 1 && b > 1 || c) r += 3;
    if (a > 1 || b > 1 && c) r += 4;
    if ((a > 1 || b > 1) && c) r += 5;
    if (c && (a > 1 || b > 1)) r += 6;
    if (a > 1 || b > 1 || c == 2) r += 7; else r += odd(b);
    if (!(a > 1 || b > 1) && c == 2) r += 8;
    if ((a > 2 && b > 2)) r += 9;
    if (odd(a) || odd(b)) r += 10;
    if (odd(a) && odd(b + c)) r += 11;
    if (p->value == 3 && p->next->value) r += 12;
    if (s[0] == 'a' || strcmp(s, "bc") == 0) r += 13;
    if (a == 3
        || (c
            && b < 2)) r += 14;
    if (a == 1) r += 15;
    else if (a == 2 || b == 1) r += 16;
    else if (c > 3) r += odd(c);
    while (a < 7 && b != 9) { a++; b += 2; }
    do { a--; } while (a > 3 || c == a);
    for (int i = 0; i < c && i != 4; i++) r += i;
    return r;
}

static volatile int sink;

/* An optimiser asks for more than 0 where it is known not to be 0, and drops what is always true. */
__attribute__((noinline)) static void strengthened(int a, int b, _Bool h, int c, int g) {
    int s = 3;
    if (a >= 0) {
        if (a != 0) sink = 3;
    }
    if (b > -1) {
        if (b != 0) sink = 4;
    }
    if (h <= s && c) {
        if (g) sink = 1;
    }
}

int main(void) {
    const char *words[] = {"ab", "bc", "", "cd"};
    unsigned seed = 12345;
    int sum = 0;
    for (int i = 0; i < 200; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned n = seed >> 8;
        struct node last = {n % 3, 0}, first = {n % 5, &last};
        last.next = n & 64 ? &last : &first;
        sum += compared(n & 128 ? &first : &last, n % 11, (n >> 4) % 12, (n >> 7) % 5);
        sum += joined(&first, n % 13, (n >> 3) % 11, (n >> 6) % 6, words[(n >> 9) % 4]);
        strengthened((int)(n % 3) - 1, (int)((n >> 5) % 3) - 1, n & 1, (n >> 3) & 1, (n >> 4) & 3);
    }
    printf("%d\n", sum);
    return 0;
}
