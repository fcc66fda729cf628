// Functions of which each missing path is to be run by the values that are printed for it.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct point { int x, y; };
struct node { int key; char tag; struct node *next; };
enum color { RED, GREEN = 5, BLUE };
static const unsigned char weights[8] = {1, 2, 4, 8, 16, 32, 64, 128};

int ex_sign(int n) {
    int r = 0;
    if (n < 0) r |= 1;
    if (n > 1000) r |= 2;
    if (n % 7 == 3) r |= 4;
    return r;
}

int ex_sum(int a, int b) {
    int r = 0;
    if (a + b == 100) r |= 1;
    if (a - b == 20) r |= 2;
    if (a == 61) r |= 4;
    return r;
}

int ex_product(unsigned a, unsigned b) {
    int r = 0;
    if (a * b == 391) r |= 1;
    if (a > 1 && a < b) r |= 2;
    return r;
}

int ex_number(const char *s) {
    int r = 0;
    if (s[0] == '+' || s[0] == '-') r |= 1;
    if (s[1] == '0') r |= 2;
    if (s[2] == 0) r |= 4;
    return r;
}

int ex_letter(char c) {
    int r = 0;
    if (c >= 'a' && c <= 'z') r |= 1;
    if ((c | 32) == 'q') r |= 2;
    return r;
}

int ex_byte(uint8_t b) {
    int r = 0;
    if (b & 1) r |= 1;
    if ((b >> 4) == 9) r |= 2;
    if (b > 200) r |= 4;
    return r;
}

int ex_color(enum color color, bool dark) {
    int r = 0;
    if (color == GREEN) r |= 1;
    if (color != BLUE && dark) r |= 2;
    return r;
}

int ex_point(struct point p) {
    int r = 0;
    if (p.x == p.y) r |= 1;
    if (p.x > 10) r |= 2;
    if (p.y < -3) r |= 4;
    return r;
}

int ex_place(struct point *p) {
    int r = 0;
    if (p == NULL) return -1;
    if (p->x > p->y) r |= 1;
    if (p->y == 42) r |= 2;
    return r;
}

int ex_list(struct node *n) {
    int r = 0;
    if (n->key == 7) r |= 1;
    if (n->next && n->next->tag == 'x') r |= 2;
    return r;
}

int ex_array(const int *v, int n) {
    int r = 0;
    if (n > 2 && v[2] == 5) r |= 1;
    if (v[0] > v[1]) r |= 2;
    return r;
}

int ex_index(const short *v, unsigned i) {
    int r = 0;
    if (i > 5) return -1;
    if (v[i] == 9) r |= 1;
    if (v[i + 1] == 11) r |= 2;
    return r;
}

int ex_weight(unsigned char b) {
    int r = 0;
    if (b > 7) return -1;
    if (weights[b] > 10) r |= 1;
    if (b & 1) r |= 2;
    return r;
}

int ex_range(const char *p, const char *end) {
    int r = 0;
    if (p == end) return -1;
    if (end - p > 3) r |= 1;
    if (*p == '"') r |= 2;
    return r;
}

int ex_switch(int kind, long size) {
    int r = 0;
    switch (kind) {
    case 1: r = 1; break;
    case 8: r = 2; break;
    case 9: r = 3; break;
    default: break;
    }
    if (size == 4096 || size == 8192) r |= 8;
    return r;
}

int ex_wide(uint64_t n) {
    int r = 0;
    if (n > UINT64_C(0x100000000)) r |= 1;
    if ((n & 0xff) == 0x80) r |= 2;
    return r;
}

int ex_out(int n, int *out) {
    if (out == NULL) return -1;
    if (n < 0) { *out = 0; return 1; }
    *out = n;
    if (*out == 3) return 2;
    return 0;
}

static bool is_odd(int n) { return n & 1; }

int ex_helper(int n, int m) {
    int r = 0;
    if (is_odd(n)) r |= 1;
    if (is_odd(m) && n > m) r |= 2;
    return r;
}

static int clamp(int n) {
    if (n < 0) return 0;
    if (n > 9) return 9;
    return n;
}

int ex_clamp(int n) {
    int r = 0;
    if (clamp(n) == 9) r |= 1;
    if (n > 5) r |= 2;
    return r;
}

#ifndef HARNESS
int main(void) {
    struct point point = {0, 0};
    struct node node = {0};
    int numbers[4] = {0}, out;
    short shorts[8] = {0};
    int r = ex_sign(0) + ex_sum(0, 0) + ex_product(0, 0) + ex_number("ab") + ex_letter(0) + ex_byte(0);
    r += ex_color(RED, false) + ex_point(point) + ex_place(&point) + ex_list(&node) + ex_array(numbers, 0);
    r += ex_index(shorts, 0) + ex_weight(0) + ex_range("", "") + ex_switch(0, 0) + ex_wide(0) + ex_out(1, &out);
    r += ex_helper(0, 0) + ex_clamp(0);
    return r == 12345;
}
#endif
