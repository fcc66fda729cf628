// Writes all over 16 MB for ever.
#include <stdlib.h>

enum { WORDS = 1 << 22 };

int main(void) {
    unsigned *words = calloc(WORDS, sizeof *words);
    if (!words)
        return 1;
    for (unsigned x = 1;; x = x * 1664525u + 1013904223u)
        words[(x >> 8) % WORDS] += x;
}
