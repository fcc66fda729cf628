/* A file with lines of an instruction's bytes, in hexadecimal: how many are taken for one, or 0, of each that is not known to have that many. */
#include "p3_shadow_passes.c"

#include <stdio.h>

/* What the file calls, which is not asked here. */
int p3_shadow_open(uint64_t address, uint64_t size) { return address == 0 && size == 0; }
int p3_shadow_is_site_within(const uint8_t *begin, const uint8_t *end) { return begin == end; }

int main(int argc, char **argv) {
    FILE *lines = argc > 1 ? fopen(argv[1], "r") : NULL;
    char line[256];
    unsigned known = 0, all = 0, relative;
    while (lines != NULL && fgets(line, sizeof line, lines) != NULL) {
        uint8_t bytes[32] = {0};
        unsigned n = 0;
        int read;
        for (const char *at = line; n < 16 && sscanf(at, "%2hhx%n", &bytes[n], &read) == 1; at += read)
            n++;
        unsigned size = size_of_instruction(bytes, &relative);
        all++;
        known += size == n;
        if (size != 0 && size != n)
            printf("%u: %s", size, line);
    }
    printf("%u of %u\n", known, all);
    return 0;
}
