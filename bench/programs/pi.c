/* Digits of π and of e: a spigot (after Rabinowitz and Wagon), and series of fractions of many words. pi DIGITS
   ROUNDS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long sum;

static void take_digit(int digit) { sum = sum * 31 + (unsigned long)digit; }

/* Each digit is one pass over fractions of mixed base; a run of nines waits for its carry. */
static void spigot(int digits) {
    int n = digits * 10 / 3 + 1, nines = 0, held = -1;
    int *rest = malloc((size_t)n * sizeof *rest);
    for (int i = 0; i < n; i++)
        rest[i] = 2;
    for (int d = 0; d < digits; d++) {
        int carry = 0;
        for (int i = n - 1; i > 0; i--) {
            int value = 10 * rest[i] + carry;
            rest[i] = value % (2 * i + 1);
            carry = value / (2 * i + 1) * i;
        }
        int value = 10 * rest[0] + carry, digit = value / 10;
        rest[0] = value % 10;
        if (digit == 9) {
            nines++;
            continue;
        }
        if (held >= 0)
            take_digit(held + (digit == 10));
        for (; nines > 0; nines--)
            take_digit(digit == 10 ? 0 : 9);
        held = digit == 10 ? 0 : digit;
    }
    free(rest);
}

/* Fractions: word 0 is whole, the others are 2^-32, 2^-64, … */
static int divide(uint32_t *a, int from, int words, uint32_t by) {
    uint64_t rest = 0;
    for (int i = from; i < words; i++) {
        rest = rest << 32 | a[i];
        a[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    while (from < words && a[from] == 0)
        from++;
    return from;
}

static void add(uint32_t *a, const uint32_t *b, int from, int words) {
    uint64_t carry = 0;
    int i = words - 1;
    for (; i >= from; i--) {
        carry += (uint64_t)a[i] + b[i];
        a[i] = (uint32_t)carry;
        carry >>= 32;
    }
    for (; carry != 0 && i >= 0; i--) {
        carry += a[i];
        a[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void subtract(uint32_t *a, const uint32_t *b, int from, int words) {
    int64_t borrow = 0;
    for (int i = words - 1; i >= 0 && (i >= from || borrow != 0); i--) {
        borrow += (int64_t)a[i] - (i >= from ? b[i] : 0);
        a[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
}

static void print_digits(uint32_t *a, int words, int digits) {
    take_digit((int)a[0]);
    for (int d = 0; d < digits; d += 9) {
        uint64_t carry = 0;
        a[0] = 0;
        for (int i = words - 1; i >= 0; i--) {
            carry += (uint64_t)a[i] * 1000000000u;
            a[i] = (uint32_t)carry;
            carry >>= 32;
        }
        take_digit((int)(a[0] % 1000));
    }
}

/* Adds factor · arctan(1 / x), or takes it away. */
static void arctan(uint32_t *to, uint32_t factor, uint32_t x, int negative, int words) {
    uint32_t *power = calloc((size_t)words, sizeof *power), *term = calloc((size_t)words, sizeof *term);
    power[0] = factor;
    int from = divide(power, 0, words, x);
    for (uint32_t n = 1; from < words; n += 2) {
        memcpy(term + from, power + from, (size_t)(words - from) * sizeof *term);
        int at = divide(term, from, words, n);
        if ((n / 2 + (uint32_t)negative) % 2 == 0)
            add(to, term, at, words);
        else
            subtract(to, term, at, words);
        from = divide(power, from, words, x * x);
    }
    free(power);
    free(term);
}

static void series(int digits) {
    int words = digits / 9 + 4;
    uint32_t *a = calloc((size_t)words, sizeof *a), *term = calloc((size_t)words, sizeof *term);
    arctan(a, 16, 5, 0, words);
    arctan(a, 4, 239, 1, words);
    print_digits(a, words, digits);
    memset(a, 0, (size_t)words * sizeof *a);
    term[0] = 1;
    for (uint32_t n = 1, from = 0; (int)from < words; n++) {
        add(a, term, (int)from, words);
        from = (uint32_t)divide(term, (int)from, words, n);
    }
    print_digits(a, words, digits);
    free(a);
    free(term);
}

int main(int argc, char **argv) {
    int digits = argc > 1 ? atoi(argv[1]) : 200, rounds = argc > 2 ? atoi(argv[2]) : 2;
    for (int r = 0; r < rounds; r++) {
        spigot(digits / 4 + r);
        series(digits + 40 * r);
    }
    printf("%lu\n", sum);
    return 0;
}
