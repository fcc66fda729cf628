#include <stdio.h>
#include <string.h>
#include <ctype.h>

enum state { START, NUMBER, NAME, STRING, COMMENT };
static const unsigned char klass[256] = { ['0'] = 1, ['1'] = 1, ['2'] = 1, ['9'] = 1, ['a'] = 2, ['b'] = 2, ['z'] = 2, ['_'] = 2, ['"'] = 3, ['#'] = 4, ['\n'] = 5 };

static int count_state[5];

static void step(enum state *s, int c) {
    switch (*s) {
    case START:
        switch (klass[c]) {
        case 1: *s = NUMBER; break;
        case 2: *s = NAME; break;
        case 3: *s = STRING; break;
        case 4: *s = COMMENT; break;
        default: break;
        }
        break;
    case NUMBER: if (klass[c] != 1) *s = START; break;
    case NAME: if (klass[c] != 1 && klass[c] != 2) *s = START; break;
    case STRING: if (c == '"') *s = START; break;
    case COMMENT: if (c == '\n') *s = START; break;
    }
    count_state[*s]++;
}

static int trim(char *s) {
    int n = (int)strlen(s);
    while (n > 0 && isspace((unsigned char)s[n - 1])) s[--n] = 0;
    int skip = 0;
    while (isspace((unsigned char)s[skip])) skip++;
    if (skip) memmove(s, s + skip, n - skip + 1);
    return n - skip;
}

static int parse_number(const char *s, int *ok) {
    int sign = 1, value = 0, any = 0;
    if (*s == '-') { sign = -1; s++; } else if (*s == '+') s++;
    while (isdigit((unsigned char)*s)) { value = value * 10 + *s - '0'; any = 1; s++; }
    *ok = any && *s == 0;
    return *ok ? sign * value : 0;
}

int main(void) {
    const char *text = "12 ab_ \"x y\" # note\n9z";
    enum state s = START;
    for (const char *p = text; *p; p++) step(&s, (unsigned char)*p);
    char lines[][12] = { "  42 ", "-7", "+x", "", " 9\t" };
    int total = 0, bad = 0;
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        int ok, n = trim(lines[i]);
        int v = n ? parse_number(lines[i], &ok) : (ok = 0);
        if (!ok) bad++;
        else if (v < 0) total -= v;
        else total += v;
    }
    for (int i = 0; i < 5; i++) if (count_state[i] > 3) printf("%d: %d\n", i, count_state[i]);
    printf("%d %d\n", total, bad);
    return bad > 2 ? 1 : 0;
}
