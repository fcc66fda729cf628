#pragma once

inline int clamp(int n, int low, int high) { return n < low ? low : n > high ? high : n; }

template <class T> struct Counter {
    static T count(T n) {
        T bits = 0;
        for (; n; n /= 2)
            bits += n & 1;
        return bits;
    }
};

int other(int n);
int thrower(int n);
