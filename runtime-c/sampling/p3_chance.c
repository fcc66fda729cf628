// SPDX-License-Identifier: MIT OR Apache-2.0
/* Chance: random numbers, and what is drawn with them. Integers alone: the program's floating-point state is its own.
 *
 * Calls: nothing.
 * In signal handlers: all of it. */
#include "p3_internal.h"

/* SplitMix64 (Steele, Lea & Flood, OOPSLA 2014). */
uint64_t p3_chance_next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* -log2(u / 2^64) in units of 2^-25, for u > 0: the first digits of a logarithm by squaring. Those behind are digits of
 * u that have no part in these: between two values of the first ones the logarithm is as good as uniform. */
static uint64_t minus_log2(uint64_t u) {
    enum { DIGITS = 10, REST = 25 - DIGITS };
    unsigned zeros = (unsigned)__builtin_clzll(u);
    uint64_t x = u << zeros >> 32, fraction = 0;
    for (int i = 0; i < DIGITS; i++) {
        x = x * x >> 31;
        fraction = fraction << 1 | x >> 32;
        x >>= x >> 32;
    }
    return ((uint64_t)(zeros + 1) << 25) - (fraction << REST | (u & ((1u << REST) - 1)));
}

/* With p = 1 / period, a skip is at least n with probability (1 - p)^n = 2^(n log2(1 - p)). Multiplied with -log2 of a
 * uniform number is -1 / log2(1 - p) = ln 2 (period - 1/2 - 1/(12 period) - 1/(24 period^2) - ...). */
static uint64_t skip_of(uint64_t u, uint64_t period) {
    enum { HALF_LN2 = 363409, LN2 = 726817 }; /* in units of 2^-20 */
    uint64_t scale = (2 * period - 1) * HALF_LN2;
    if (period < LN2)
        scale -= LN2 / (12 * period) + LN2 / (24 * period * period);
    uint64_t e = minus_log2(u);
    return (e * (scale >> 32) >> 13) + (e * (scale & 0xffffffffu) >> 45);
}

uint64_t p3_chance_skip(uint64_t *state, uint64_t period) { return skip_of(p3_chance_next(state) | 1, period); }

/* (1 - p)^most is at least 1 - most p: below that no logarithm is needed. */
uint64_t p3_chance_skip_up_to(uint64_t *state, uint64_t period, uint64_t most) {
    uint64_t u = p3_chance_next(state) | 1, rest = (0 - u) >> 32;
    if (period >> 32 == 0 && rest * period >> 32 >= most)
        return most;
    uint64_t skip = skip_of(u, period);
    return skip < most ? skip : most;
}

uint32_t p3_chance_heads(uint64_t *state, uint32_t coins) {
    uint32_t heads = 0;
    for (; coins >= 64; coins -= 64)
        heads += (uint32_t)__builtin_popcountll(p3_chance_next(state));
    if (coins > 0)
        heads += (uint32_t)__builtin_popcountll(p3_chance_next(state) >> (64 - coins));
    return heads;
}
