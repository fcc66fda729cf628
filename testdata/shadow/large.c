/* Much memory that is written all the time: a shadow copies what its program writes, and so does the program. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 6 << 20 };

static uint64_t work(uint64_t *words, uint64_t seed) {
    for (uint64_t i = 0; i < WORDS; i++)
        words[i] = (words[i] ^ seed) * UINT64_C(0x9e3779b97f4a7c15) + (words[i] >> 7);
    return words[seed % WORDS];
}

int main(int argc, char **argv) {
    uint64_t *words = calloc(WORDS, sizeof *words), sum = 0;
    if (words == NULL || argc != 2)
        return 1;
    for (int i = 0; i < atoi(argv[1]); i++)
        sum += work(words, sum + (uint64_t)i);
    printf("%llu\n", (unsigned long long)sum);
    return 3;
}
