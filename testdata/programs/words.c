#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stats { int words, letters, digits, blanks, others, longest; };

static const char kinds[] = "aeiouAEIOU";

static int is_vowel(int c) {
    for (const char *k = kinds; *k; k++)
        if (*k == c) return 1;
    return 0;
}

static int line_stats(const char *s, struct stats *st) {
    int in = 0, len = 0, vowels = 0;
    while (*s) {
        int c = (unsigned char)*s;
        if (isalpha(c)) {
            st->letters++;
            if (is_vowel(c)) vowels++;
            len++;
            if (!in) { in = 1; st->words++; }
        } else {
            if (len > st->longest) st->longest = len;
            in = 0; len = 0;
            if (isdigit(c)) st->digits++;
            else if (isspace(c)) st->blanks++;
            else st->others++;
        }
        s++;
    }
    if (len > st->longest) st->longest = len;
    return vowels;
}

static int classify(int c) {
    switch (c) {
    case 'a': case 'b': return 1;
    case 'x': return 2;
    case '0': case '1': case '2': return 3;
    default: return c > 'm' ? 4 : 5;
    }
}

static unsigned hash(const char *s) {
    unsigned h = 5381;
    for (; *s; s++) h = h * 33 + (unsigned char)*s;
    return h;
}

int main(int argc, char **argv) {
    struct stats st = {0};
    char *lines[] = { "hello world 42", "the quick brown fox; jumps!", "a1b2c3  ", "", "xyzzy 99" };
    int n = argc > 1 ? atoi(argv[1]) : 5, vowels = 0, sum = 0;
    if (n > 5) n = 5;
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < n; i++)
            vowels += line_stats(lines[i], &st);
    for (int i = 0; i < n; i++)
        for (char *p = lines[i]; *p; p++)
            sum += classify(*p);
    for (int i = 1; i < argc; i++)
        vowels += line_stats(argv[i], &st);
    unsigned h = 0;
    for (int i = 0; i < n; i++) h ^= hash(lines[i]);
    if (st.words > 10 && st.longest < 6 && vowels) puts("many short");
    printf("%d %d %d %d %d %d %d %d %u\n", st.words, st.letters, st.digits, st.blanks, st.others, st.longest, vowels, sum, h);
    return 0;
}
