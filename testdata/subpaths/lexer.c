/* A lexer generator: expressions of tokens become an automaton (Thompson), its sets of states a table (subset
 * construction), and the table reads a text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 256, SETS = 256, BYTES = 128, WORDS = STATES / 64 };

/* A state of the automaton: a byte from `low` to `high` leads to `next`; or two empty ways, where low > high. */
struct state {
    int low, high, next, other, token;
};

struct set {
    uint64_t bits[WORDS];
};

static const char *const tokens[] = {"if",         "else",     "while",   "return",   "(a-z)((a-z)|(0-9))*", "(0-9)(0-9)*",
                                     "0x((0-9)|(a-f))*", "<|<=|=|==|>", "{|}|;|,|+|-", "#(a-z)*#", " *"};
enum { TOKENS = sizeof tokens / sizeof *tokens };

static struct state states[STATES];
static int n_states;
static struct set sets[SETS];
static int accepts[SETS], n_sets;
static int16_t table[SETS][BYTES];
static const char *at;

static int add(int low, int high, int next, int other) {
    if (n_states == STATES)
        exit(2);
    states[n_states] = (struct state){low, high, next, other, -1};
    return n_states++;
}

static int alternatives(int then);

/* What is read before `then`; the first state of it. */
static int single(int then) {
    if (at[0] == '(' && at[2] == '-' && at[4] == ')') {
        at += 5;
        return add(at[-4], at[-2], then, -1);
    }
    if (*at == '(') {
        at++;
        int first = alternatives(then);
        at++;
        return first;
    }
    at++;
    return add(at[-1], at[-1], then, -1);
}

static const char *behind(const char *p) {
    int depth = 0;
    do {
        depth += (*p == '(') - (*p == ')');
        p++;
    } while (depth > 0);
    return p;
}

static int sequence(int then) {
    if (*at == 0 || *at == '|' || *at == ')')
        return then;
    const char *begin = at, *end = behind(at);
    int again = *end == '*';
    at = end + again;
    int rest = sequence(then);
    const char *after = at;
    at = begin;
    int first;
    if (again) {
        first = add(1, 0, -1, rest);
        states[first].next = single(first);
    } else
        first = single(rest);
    at = after;
    return first;
}

static int alternatives(int then) {
    int first = sequence(then);
    if (*at != '|')
        return first;
    at++;
    return add(1, 0, first, alternatives(then));
}

static void close_over(struct set *s, int state) {
    if (state < 0 || (s->bits[state / 64] >> state % 64 & 1) != 0)
        return;
    s->bits[state / 64] |= UINT64_C(1) << state % 64;
    if (states[state].low > states[state].high) {
        close_over(s, states[state].next);
        close_over(s, states[state].other);
    }
}

static int number(const struct set *s) {
    for (int i = 0; i < n_sets; i++)
        if (memcmp(&sets[i], s, sizeof *s) == 0)
            return i;
    if (n_sets == SETS)
        exit(2);
    sets[n_sets] = *s;
    accepts[n_sets] = -1;
    for (int i = STATES - 1; i >= 0; i--)
        if ((s->bits[i / 64] >> i % 64 & 1) != 0 && states[i].token >= 0)
            accepts[n_sets] = states[i].token;
    return n_sets++;
}

static void step(int from, int byte) {
    struct set to = {{0}};
    for (int i = 0; i < n_states; i++)
        if ((sets[from].bits[i / 64] >> i % 64 & 1) != 0 && states[i].low <= byte && byte <= states[i].high)
            close_over(&to, states[i].next);
    static const struct set none;
    table[from][byte] = (int16_t)(memcmp(&to, &none, sizeof to) == 0 ? -1 : number(&to));
}

static void generate(void) {
    struct set start = {{0}};
    n_states = n_sets = 0;
    for (int i = 0; i < TOKENS; i++) {
        int end = add(1, 0, -1, -1);
        states[end].token = i;
        at = tokens[i];
        close_over(&start, alternatives(end));
    }
    number(&start);
    for (int from = 0; from < n_sets; from++)
        for (int byte = 0; byte < BYTES; byte++)
            step(from, byte);
}

/* The longest token that the text begins with. */
static int longest(const char *text, int *token) {
    int state = 0, length = 0;
    *token = -1;
    for (int i = 0; text[i] != 0 && state >= 0; i++) {
        state = table[state][text[i] & (BYTES - 1)];
        if (state >= 0 && accepts[state] >= 0) {
            length = i + 1;
            *token = accepts[state];
        }
    }
    return length > 0 ? length : 1;
}

static char *write_text(int size) {
    static const char *const words[] = {"while", "x1", " ", "=", "0x1f", "if", "value", "42", "<=", ";", " ", "{", "#note#", "return", "}"};
    char *text = malloc(size + 16);
    uint32_t random = 1;
    int n = 0;
    while (n < size) {
        random = random * 1664525 + 1013904223;
        const char *word = words[(random >> 16) % (sizeof words / sizeof *words)];
        strcpy(text + n, word);
        n += (int)strlen(word);
    }
    return text;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 20, counts[TOKENS + 1] = {0};
    char *text = write_text(40000);
    for (int r = 0; r < rounds; r++) {
        generate();
        for (const char *p = text; *p != 0;) {
            int token;
            p += longest(p, &token);
            counts[token + 1]++;
        }
    }
    printf("%d states, %d sets:", n_states, n_sets);
    for (int i = 0; i <= TOKENS; i++)
        printf(" %d", counts[i] / rounds);
    printf("\n");
    free(text);
    return 0;
}
