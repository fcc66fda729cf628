/* Words that are counted in a table with open addresses, which grows. hash_table WORDS TIMES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    unsigned hash, count;
    char word[12];
};

static struct slot *slots;
static unsigned room, taken, state = 99;

__attribute__((noinline)) static unsigned hash(const char *word) {
    unsigned h = 2166136261u;
    for (; *word; word++)
        h = (h ^ (unsigned char)*word) * 16777619u;
    return h;
}

__attribute__((noinline)) static struct slot *find(struct slot *in, unsigned size, unsigned h, const char *word) {
    for (unsigned i = h & (size - 1);; i = (i + 1) & (size - 1))
        if (in[i].count == 0 || (in[i].hash == h && strcmp(in[i].word, word) == 0))
            return &in[i];
}

__attribute__((noinline)) static void grow(void) {
    struct slot *larger = calloc(room * 2, sizeof *larger);
    for (unsigned i = 0; i < room; i++)
        if (slots[i].count != 0)
            *find(larger, room * 2, slots[i].hash, slots[i].word) = slots[i];
    free(slots);
    slots = larger;
    room *= 2;
}

__attribute__((noinline)) static void make(char *word) {
    state = state * 1103515245u + 12345u;
    unsigned n = (state >> 16) % 5000, length = 0;
    if ((state >> 8) % 3 == 0)
        n %= 50;
    do
        word[length++] = (char)('a' + n % 26);
    while ((n /= 26) > 0);
    word[length] = 0;
}

int main(int argc, char **argv) {
    unsigned words = argc > 1 ? (unsigned)atoi(argv[1]) : 10000, times = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    unsigned long sum = 0;
    for (unsigned t = 0; t < times; t++) {
        room = 64;
        taken = 0;
        slots = calloc(room, sizeof *slots);
        for (unsigned i = 0; i < words; i++) {
            char word[12];
            make(word);
            unsigned h = hash(word);
            struct slot *s = find(slots, room, h, word);
            if (s->count++ == 0) {
                s->hash = h;
                strcpy(s->word, word);
                if (++taken * 2 > room)
                    grow();
            }
        }
        for (unsigned i = 0; i < room; i++)
            sum += slots[i].count * (i & 7);
        free(slots);
    }
    printf("%lu\n", sum);
    return 0;
}
