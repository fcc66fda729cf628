/* Numbers of several words: continued fractions of their roots, until a remainder is a square of small primes, which
   may give a factor (after Morrison and Brillhart). cfac DIGITS COUNT SEED */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 12, PRIMES = 48 };

/* Digits in base 2^32, the lowest first; no zero on top. */
struct number {
    int n;
    uint32_t d[WORDS];
};

static uint32_t primes[PRIMES];
static unsigned state;
static long smooth;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static struct number small(uint64_t v) {
    struct number a = {0};
    for (; v != 0; v >>= 32)
        a.d[a.n++] = (uint32_t)v;
    return a;
}

static int compare(const struct number *a, const struct number *b) {
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int i = a->n - 1; i >= 0; i--)
        if (a->d[i] != b->d[i])
            return a->d[i] < b->d[i] ? -1 : 1;
    return 0;
}

static void add(struct number *a, const struct number *b) {
    uint64_t carry = 0;
    for (int i = 0; i < b->n || carry != 0; i++) {
        for (; i >= a->n; a->n++)
            a->d[a->n] = 0;
        carry += (uint64_t)a->d[i] + (i < b->n ? b->d[i] : 0);
        a->d[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void trim(struct number *a) {
    while (a->n > 0 && a->d[a->n - 1] == 0)
        a->n--;
}

/* a − b, where a is not less. */
static struct number minus(struct number a, const struct number *b) {
    int64_t borrow = 0;
    for (int i = 0; i < a.n && (i < b->n || borrow != 0); i++) {
        borrow += (int64_t)a.d[i] - (i < b->n ? b->d[i] : 0);
        a.d[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    trim(&a);
    return a;
}

static struct number times(const struct number *a, const struct number *b) {
    struct number c = {.n = a->n + b->n};
    for (int i = 0; i < a->n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->n; j++) {
            carry += (uint64_t)a->d[i] * b->d[j] + c.d[i + j];
            c.d[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        c.d[i + b->n] = (uint32_t)carry;
    }
    trim(&c);
    return c;
}

static void twice(struct number *a, uint32_t carry) {
    for (int i = 0; i < a->n; i++) {
        uint32_t d = a->d[i];
        a->d[i] = d << 1 | carry;
        carry = d >> 31;
    }
    if (carry != 0)
        a->d[a->n++] = carry;
}

static uint32_t divide_small(struct number *a, uint32_t by) {
    uint64_t rest = 0;
    for (int i = a->n - 1; i >= 0; i--) {
        rest = rest << 32 | a->d[i];
        a->d[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    trim(a);
    return (uint32_t)rest;
}

/* a modulo b; the quotient goes to *q. Bit by bit. */
static struct number divide(const struct number *a, const struct number *b, struct number *q) {
    struct number rest = small(0);
    *q = small(0);
    for (int i = 32 * a->n - 1; i >= 0; i--) {
        twice(&rest, a->d[i / 32] >> i % 32 & 1);
        int fits = compare(b, &rest) <= 0;
        twice(q, (uint32_t)fits);
        if (fits)
            rest = minus(rest, b);
    }
    return rest;
}

static struct number common(struct number a, struct number b) {
    for (struct number q; b.n != 0;) {
        struct number rest = divide(&a, &b, &q);
        a = b;
        b = rest;
    }
    return a;
}

/* The largest number whose square is at most n, by Newton's method. */
static struct number root(const struct number *n) {
    struct number x = *n, q;
    for (;;) {
        divide(n, &x, &q);
        add(&q, &x);
        divide_small(&q, 2);
        if (compare(&q, &x) >= 0)
            return x;
        x = q;
    }
}

static void find_primes(void) {
    int n = 0;
    for (uint32_t p = 2; n < PRIMES; p++) {
        int i = 0;
        while (i < n && p % primes[i] != 0)
            i++;
        if (i == n)
            primes[n++] = p;
    }
}

/* The root of q, where q is a square and has no large primes; else 0. */
static uint64_t root_of_smooth(struct number q) {
    uint64_t product = 1;
    int odd = 0;
    for (int i = 0; i < PRIMES; i++)
        for (int power = 1;; power++) {
            struct number part = q;
            if (divide_small(&part, primes[i]) != 0) {
                odd |= power % 2 == 0;
                break;
            }
            q = part;
            if (power % 2 == 0)
                product *= primes[i];
        }
    if (q.n != 1 || q.d[0] != 1)
        return 0;
    smooth++;
    return odd ? 0 : product;
}

static struct number factor(const struct number *n) {
    struct number g = root(n), p = g, before = small(1), a = g, a_before = small(1), whole, ignored;
    struct number square = times(&g, &g), q = minus(*n, &square);
    for (int step = 1; step < 3000 && q.n > 0; step++) {
        uint64_t r = root_of_smooth(q);
        if (r > 0 && step % 2 == 0) {
            struct number x = a, y = small(r);
            add(&x, &y);
            struct number f = common(*n, x);
            if (compare(&f, n) < 0 && (f.n > 1 || f.d[0] > 1))
                return f;
        }
        struct number sum = g, next = before, product;
        add(&sum, &p);
        struct number rest = divide(&sum, &q, &whole), p_next = minus(g, &rest);
        if (compare(&p_next, &p) <= 0) {
            struct number by = minus(p, &p_next);
            product = times(&whole, &by);
            add(&next, &product);
        } else {
            struct number by = minus(p_next, &p);
            product = times(&whole, &by);
            next = minus(next, &product);
        }
        product = times(&whole, &a);
        add(&product, &a_before);
        a_before = a;
        a = divide(&product, n, &ignored);
        before = q;
        q = next;
        p = p_next;
    }
    return small(1);
}

int main(int argc, char **argv) {
    int digits = argc > 1 ? atoi(argv[1]) : 5, count = argc > 2 ? atoi(argv[2]) : 3;
    unsigned long sum = 0;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    find_primes();
    for (int i = 0; i < count; i++) {
        struct number n = small(1);
        for (int j = 0; j < 2; j++) {
            uint64_t v = 1;
            for (int d = 0; d < digits; d++)
                v = v * 10 + next_random() % 10;
            struct number part = small(v | 1);
            n = times(&n, &part);
        }
        struct number f = factor(&n);
        sum = sum * 31 + f.d[0] + (unsigned)f.n;
    }
    printf("%lu %ld\n", sum, smooth);
    return 0;
}
