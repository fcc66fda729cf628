// Conditions that seem to exclude each other, and paths on which they do not. Nothing printed depends on what is
// undefined.
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static int seen;
static int global, other;
static int table[4] = {1, 2, 3, 4};
static const unsigned char fixed[4] = {7, 7, 9, 200};

APART static int overflow(int x) {
    int r = 0;
    if (x == INT_MAX) r |= 1;
    if (x + 1 > x) r |= 2;
    if (x + 1 < 0) r |= 4;
    if (x - 1 > 0) r |= 8;
    if (x * 2 < x) r |= 16;
    return r;
}

APART static int shift(unsigned n) {
    int r = 0;
    if (n == 33) r |= 1;
    if ((1u << n) == 2) r |= 2;
    if ((1u << n) == 0) r |= 4;
    if (((int)n >> (n & 40)) == 1) r |= 8;
    return r;
}

APART static int undefined(int c) {
    int x, y[2];
    int r = 0;
    if (c == 1) x = 1;
    if (c == 2) y[0] = 2;
    if (x == 1) r |= 1;
    if (x == 2) r |= 2;
    if (y[0] == 2) r |= 4;
    if (y[1] == 3) r |= 8;
    if (y[1] == 4) r |= 16;
    return r;
}

APART static int from_heap(int c) {
    int *p = malloc(sizeof *p);
    int r = 0;
    if (!p) return 0;
    if (c) *p = 5;
    if (*p == 5) r |= 1;
    if (*p == 6) r |= 2;
    if (*p == 0) r |= 4;
    free(p);
    return r;
}

static jmp_buf back;

APART static void jump(int n) {
    if (n) longjmp(back, n);
}

APART static int twice(int c) {
    int n = 0, r = 0;
    if (setjmp(back)) {
        if (n == 0) r |= 1;
        if (n == 1) r |= 2;
        return r;
    }
    n = 1;
    jump(c);
    if (n == 1) r |= 4;
    return r;
}

APART static int alias(int *a, int *b) {
    int r = 0;
    *a = 1;
    *b = 2;
    if (*a == 1) r |= 1;
    if (*a == 2) r |= 2;
    b[1] = 3;
    if (*a == 3) r |= 4;
    if (*b == 3) r |= 8;
    return r;
}

APART static int bytes(int *p, int i, char v) {
    int r = 0;
    *p = 0;
    ((char *)p)[i] = v;
    if (*p == 0) r |= 1;
    if (*p == 256) r |= 2;
    if (((short *)p)[0] == 256) r |= 4;
    if (*p < 0) r |= 8;
    return r;
}

union any {
    int i;
    float f;
    unsigned char c[4];
    struct { short a, b; } s;
};

APART static int pun(union any *u, int i) {
    int r = 0;
    u->i = 0;
    u->f = 1.0f;
    if (u->i == 0) r |= 1;
    if (u->c[3] == 0x3f) r |= 2;
    u->c[i] = 9;
    if (u->s.b == 9) r |= 4;
    if (u->s.a == 9) r |= 8;
    if (u->i == 0) r |= 16;
    return r;
}

APART static int copied(double d) {
    uint64_t bits = 0;
    int r = 0;
    memcpy(&bits, &d, sizeof bits);
    if (bits == 0) r |= 1;
    if (d == 0) r |= 2;
    if (bits >> 63) r |= 4;
    if (d < 0) r |= 8;
    if (d != d) r |= 16;
    return r;
}

struct fields {
    unsigned a : 3, b : 5;
    signed c : 4;
    int : 0;
    unsigned char d;
};

APART static int fields(struct fields *f, int n) {
    int r = 0;
    f->a = n;
    f->c = n;
    if (f->a == 7) r |= 1;
    if (f->a == (unsigned)n) r |= 2;
    if (f->c < 0) r |= 4;
    if (f->c == n) r |= 8;
    f->b = n;
    if (f->b == f->a) r |= 16;
    return r;
}

APART static int cases(int x, unsigned char c) {
    int r = 0;
    switch (x) {
    case 1:
    case 2: r = 1; break;
    case 3: r = 2; break;
    case -5: r = 1; break;
    default: r = 2;
    }
    if (x == 2) r |= 4;
    if (x == 3) r |= 8;
    switch (c) {
    case 1: r |= 16;
    case 255: break;
    default: r |= 32;
    case 0: r |= 64;
    }
    if (c > 200) r |= 128;
    return r;
}

APART static void set_global(int n) { global = n; }
static void set(int *p, int n) { *p = n; }
static int get(int *p) { return *p; }
static int next(int n) { return n + 1; }
static int (*volatile hook)(int);
static int hooked(int n) {
    global += n;
    return n;
}

APART static int calls(int n) {
    int r = 0, own = n, given = n;
    global = 1;
    set_global(n);
    if (global == 1) r |= 1;
    if (global == n) r |= 2;
    hook(2);
    if (global == n) r |= 4;
    if (global == n + 2) r |= 8;
    set(&given, 3);
    if (given == n) r |= 16;
    if (given == 3) r |= 32;
    if (get(&given) == own) r |= 64;
    if (next(own) == own + 1) r |= 128;
    return r;
}

APART static int globals(int i) {
    int r = 0;
    other = 4;
    table[i & 3] = 8;
    if (table[1] == 2) r |= 1;
    if (table[1] == 8) r |= 2;
    if (table[i & 3] == 8) r |= 4;
    if (other == 4) r |= 8;
    if (fixed[i & 3] == 7) r |= 16;
    if (fixed[i & 3] == 9) r |= 32;
    if (fixed[3] > 100) r |= 64;
    table[1] = 2;
    return r;
}

APART static int texts(char *s, const char *from) {
    int r = 0;
    s[0] = 'x';
    strcpy(s, from);
    if (s[0] == 'x') r |= 1;
    if (s[0] == 'y') r |= 2;
    if (strlen(s) == 1) r |= 4;
    memset(s, 'z', 2);
    if (s[0] == 'z') r |= 8;
    if (s[0] == 'y') r |= 16;
    if (isdigit((unsigned char)*from)) r |= 32;
    if (*from == '7') r |= 64;
    return r;
}

APART static int signs(char c, signed char s, unsigned char u) {
    int r = 0;
    if (c == '\377') r |= 1;
    if (c < 0) r |= 2;
    if (s < 0) r |= 4;
    if (u > 127) r |= 8;
    if (s == u) r |= 16;
    if ((unsigned char)s == u) r |= 32;
    if ((signed char)(s + 1) < s) r |= 64;
    if ((unsigned char)(u + 1) == 0) r |= 128;
    return r;
}

APART static int narrow(long n) {
    int r = 0;
    if (n > 255) r |= 1;
    if ((unsigned char)n == 4) r |= 2;
    if ((int)n < 0) r |= 4;
    if ((short)n == n) r |= 8;
    if ((unsigned)n == n) r |= 16;
    return r;
}

APART static int arithmetic(int a, int b, unsigned u) {
    int r = 0;
    if (a / 2 == b) r |= 1;
    if (a % 4 == -1) r |= 2;
    if (-a == b) r |= 4;
    if (a == INT_MIN && -a == a) r |= 8;
    if (u / 3 == 1) r |= 16;
    if (u - 5 < 3) r |= 32;
    if (u < 5) r |= 64;
    if (~a == b) r |= 128;
    if ((a ^ b) == 0) r |= 256;
    if ((a | b) == -1) r |= 512;
    return r;
}

struct pair {
    int a, b;
};

APART static int addresses(struct pair *p, char *from, char *to, size_t n) {
    int r = 0;
    int *q = &p->b;
    if (p == NULL) r |= 1;
    if (q == NULL) r |= 2;
    if (from + n < from) r |= 4;
    if (from + n == to) r |= 8;
    if (from == to) r |= 16;
    return r;
}

APART static int loops(const char *s, int n) {
    int r = 0, last = 0, i;
    for (i = 0; s[i]; i++) {
        if (s[i] == 'a') r++;
        if (last == 'a') r += 2;
        if (i == n) r += 4;
        if (i > 0 && s[i] == s[i - 1]) r += 8;
        last = s[i];
    }
    while (n > 0) {
        if (n == 3) r++;
        n -= 2;
        if (n == 3) r++;
        if (n < 0) r++;
    }
    return r;
}

APART static int errors(int n) {
    int r = 0;
    errno = 0;
    char *p = n ? malloc((size_t)-1 / 2 - (size_t)n) : malloc(1);
    if (errno == 0) r |= 1;
    if (errno == ENOMEM) r |= 2;
    free(p);
    return r;
}

APART static int assembled(int n) {
    int x = 1, y = 2, r = 0;
    __asm__("" : "+r"(x));
    if (x == 1) r |= 1;
    __asm__ volatile("" : "=m"(y) : "r"(n) : "memory");
    if (y == 2) r |= 2;
    return r;
}

APART static int dynamic(int n) {
    char room[n + 1];
    char *same = room;
    int r = 0;
    memset(room, 1, n + 1);
    room[n] = 4;
    same[0] = 6;
    if (room[n] == 4) r |= 1;
    if (room[n] == 6) r |= 2;
    return r;
}

APART static int locals(int i, int j) {
    int a[4] = {0, 1, 2, 3};
    int r = 0;
    struct pair p = {1, 2}, q = p;
    a[i & 3] = 9;
    if (a[j & 3] == 9) r |= 1;
    if (a[2] == 2) r |= 2;
    if (a[2] == 9) r |= 4;
    p.a = i;
    if (q.a == 1) r |= 8;
    if (p.a == 1) r |= 16;
    if (p.b == q.b) r |= 32;
    int *w = i ? &p.a : &p.b;
    *w = 77;
    if (p.a == 77) r |= 64;
    if (p.b == 77) r |= 128;
    return r;
}

APART static int recursive(int n) {
    static int depth;
    int r = 0, before = depth;
    depth++;
    if (n > 0) r = recursive(n - 1);
    if (depth == before) r |= 1;
    if (depth == before + 1) r |= 2;
    if (n == 2) depth = before;
    return r;
}

APART static int truth(const unsigned char *from) {
    _Bool b;
    int r = 0;
    memcpy(&b, from, 1);
    if (b) r |= 1;
    if (!b) r |= 2;
    if (*(unsigned char *)&b == 2) r |= 4;
    return r;
}

APART static int expected(int a, int b) {
    int r = 0;
    int low = a < b ? a : b, high = a < b ? b : a;
    if (__builtin_expect(low == a, 1)) r |= 1;
    if (low == high) r |= 2;
    if (low == b) r |= 4;
    if (high > 5 && low > 5) r |= 8;
    if (a == 3) r |= 16;
    return r;
}

int main(void) {
    static const int ints[] = {0, 1, 2, 3, 4, 7, 8, 33, -1, -2, -5, 100, 255, 256, INT_MAX, INT_MIN, INT_MAX - 1};
    const int count = sizeof ints / sizeof *ints;
    hook = hooked;
    for (int i = 0; i < count; i++) {
        int n = ints[i];
#ifndef DEFINED
        seen += shift((unsigned)n) + undefined(n) + from_heap(n);
#endif
        seen += overflow(n) + shift((unsigned)n & 31);
        seen += twice(n > 0 ? n : 0) + cases(n, (unsigned char)n) + calls(n & 0xff) + globals(n);
        seen += narrow(n) + narrow((1L << 40) + n) + recursive(n & 7) + errors(n & 1) + assembled(n);
        seen += dynamic(n & 7) + copied(n) + copied(-0.0) + copied(0.0 / (double)(n & 1));
        struct fields f = {0, 0, 0, 0};
        union any u;
        unsigned char byte = (unsigned char)n;
        seen += fields(&f, n & 15) + pun(&u, n & 3) + truth(&byte);
        for (int j = 0; j < count; j++) {
            int m = ints[j];
            seen += signs((char)n, (signed char)n, (unsigned char)m) + locals(n, m) + expected(n, m);
            if (n != INT_MIN || m != -1) seen += arithmetic(n, m, (unsigned)m);
        }
        int cells[4] = {0, 0, 0, 0};
        seen += alias(cells, cells) + alias(cells + 1, cells) + alias(cells, cells + 1) + alias(cells + 2, cells);
        for (int j = 0; j < 4; j++) seen += bytes(cells, j, (char)n) + bytes(cells, j, 1);
    }
    char room[8];
    static const char *const from[] = {"x", "y", "7", "xx", "", "yy"};
    for (int i = 0; i < 6; i++) seen += texts(room, from[i]);
    static const char *const words[] = {"", "a", "aa", "ab", "ba", "bab", "baab", "xyzzy"};
    for (int i = 0; i < 8; i++)
        for (int n = -1; n < 6; n++) seen += loops(words[i], n);
    struct pair p = {1, 2};
    seen += addresses(&p, room, room, 0) + addresses(NULL, room, room + 4, 4) + addresses(&p, room, room + 3, 4);
    seen += addresses((struct pair *)((char *)0 - 4), (char *)-4, (char *)4, 8);
    return 0;
}
