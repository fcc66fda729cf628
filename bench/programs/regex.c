/* Regular expressions, parsed to nodes, and matched by backtracking. regex LINES ROUNDS SEED */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { LETTER, ANY, SET, START, FINISH, SPLIT, JUMP, OPEN, CLOSE, MATCH };
enum { NODES = 256, GROUPS = 8, LINE = 96 };

struct node {
    enum kind kind;
    int letter, next, other, negated;
    unsigned char set[32];
};

static struct node nodes[NODES];
static int count, group_count;
static const char *pattern, *line_start;
static const char *begin_of[GROUPS], *end_of[GROUPS];
static unsigned state;
static long steps;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static int add(enum kind kind, int letter) {
    if (count == NODES) {
        fprintf(stderr, "regex: more than %d nodes\n", NODES);
        exit(1);
    }
    nodes[count] = (struct node){.kind = kind, .letter = letter, .next = count + 1};
    return count++;
}

static void parse_set(void) {
    struct node *n = &nodes[add(SET, 0)];
    if (*pattern == '^') {
        n->negated = 1;
        pattern++;
    }
    while (*pattern != ']') {
        int from = (unsigned char)*pattern++, to = from;
        if (pattern[0] == '-' && pattern[1] != ']') {
            to = (unsigned char)pattern[1];
            pattern += 2;
        }
        for (int c = from; c <= to; c++)
            n->set[c / 8] |= (unsigned char)(1 << c % 8);
    }
    pattern++;
}

static void parse(void);

static void parse_atom(void) {
    char c = *pattern++;
    int group;
    switch (c) {
    case '.': add(ANY, 0); break;
    case '^': add(START, 0); break;
    case '$': add(FINISH, 0); break;
    case '[': parse_set(); break;
    case '(':
        group = group_count++;
        add(OPEN, group);
        parse();
        pattern++;
        add(CLOSE, group);
        break;
    default: add(LETTER, c);
    }
}

/* Makes room for a node at `at`. */
static void insert(int at) {
    add(JUMP, 0);
    for (int i = count - 1; i > at; i--) {
        nodes[i] = nodes[i - 1];
        nodes[i].next++;
        if (nodes[i].kind == SPLIT || nodes[i].kind == JUMP)
            nodes[i].other += nodes[i].other >= at;
        if (nodes[i].kind == JUMP)
            nodes[i].next = nodes[i].other;
    }
    nodes[at] = (struct node){.kind = SPLIT, .next = at + 1};
}

static void parse_piece(void) {
    int start = count;
    parse_atom();
    for (; *pattern == '*' || *pattern == '+' || *pattern == '?'; pattern++) {
        if (*pattern == '+') {
            nodes[add(SPLIT, 0)].other = start;
            continue;
        }
        insert(start);
        if (*pattern == '*') {
            int back = add(JUMP, 0);
            nodes[back].next = nodes[back].other = start;
        }
        nodes[start].other = count;
    }
}

static void parse(void) {
    int start = count;
    while (*pattern != 0 && *pattern != ')') {
        if (*pattern != '|') {
            parse_piece();
            continue;
        }
        pattern++;
        insert(start);
        int over = add(JUMP, 0);
        nodes[start].other = count;
        parse();
        nodes[over].next = nodes[over].other = count;
    }
}

static int holds(const struct node *n, unsigned char c) {
    return (n->set[c / 8] >> c % 8 & 1) != n->negated;
}

/* Where a match from `at` ends; NULL if there is none. */
static const char *match(int i, const char *at) {
    for (;;) {
        const struct node *n = &nodes[i];
        const char *end, *old;
        steps++;
        switch (n->kind) {
        case LETTER:
            if (*at != n->letter)
                return NULL;
            at++;
            break;
        case ANY:
            if (*at == 0)
                return NULL;
            at++;
            break;
        case SET:
            if (*at == 0 || !holds(n, (unsigned char)*at))
                return NULL;
            at++;
            break;
        case START:
            if (at != line_start)
                return NULL;
            break;
        case FINISH:
            if (*at != 0)
                return NULL;
            break;
        case SPLIT:
            /* A loop goes back before it goes on, and both ways are greedy. */
            end = match(n->other < i ? n->other : n->next, at);
            if (end != NULL)
                return end;
            i = n->other < i ? n->next : n->other;
            continue;
        case JUMP: break;
        case OPEN:
            old = begin_of[n->letter];
            begin_of[n->letter] = at;
            end = match(n->next, at);
            if (end == NULL)
                begin_of[n->letter] = old;
            return end;
        case CLOSE: end_of[n->letter] = at; break;
        case MATCH: return at;
        }
        i = n->next;
    }
}

static void make_line(char *line) {
    static const char *const parts[] = {"error", "warning", "12:30:59", "10.0.0.7", "user=anna",
                                        "id=4711", "abc", "x@y.org", "(none)"};
    int n = 0;
    while (n < LINE - 24) {
        n += sprintf(line + n, "%s%c", parts[next_random() % 9], " ;:"[next_random() % 3]);
        if (next_random() % 6 == 0)
            break;
    }
    line[n] = 0;
}

int main(int argc, char **argv) {
    static const char *const patterns[] = {"(error|warning).*id=[0-9]+", "[0-9]+\\.[0-9]+", "^user=[a-z]*",
                                           "([a-z]+)@([a-z]+).(org|com)",
                                           "(a|ab)(c|bcd)*;", "[^ ]+ [^ ]+ [^:]*:$", "(1|12|10)[.:0]*7?"};
    int lines = argc > 1 ? atoi(argv[1]) : 500, rounds = argc > 2 ? atoi(argv[2]) : 7;
    unsigned long sum = 0;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    char(*text)[LINE] = malloc((size_t)lines * sizeof *text);
    for (int i = 0; i < lines; i++)
        make_line(text[i]);
    for (int r = 0; r < rounds; r++) {
        count = group_count = 0;
        pattern = patterns[r % 7];
        parse();
        add(MATCH, 0);
        for (int i = 0; i < lines; i++) {
            line_start = text[i];
            const char *end = NULL, *at = line_start;
            while ((end = match(0, at)) == NULL && *at != 0)
                at++;
            if (end != NULL)
                sum = sum * 31 + (unsigned long)(end - at) +
                      (group_count > 0 ? (unsigned long)(end_of[0] - begin_of[0]) : 0);
        }
    }
    printf("%lu %ld\n", sum, steps);
    return 0;
}
