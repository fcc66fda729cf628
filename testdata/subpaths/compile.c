/* A small compiler: functions of expressions are read, folded, made code of for a stack machine, and run. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NUMBER, VARIABLE, BINARY, CHOICE };

struct node {
    enum kind kind;
    char operator;
    long value;
    struct node *a, *b, *c;
};

enum { NODES = 1 << 14, CODE = 1 << 15, STACK = 1 << 8 };
enum opcode { PUSH, LOAD, APPLY, BRANCH_ZERO, JUMP };

static struct node nodes[NODES];
static int n_nodes;
static struct {
    enum opcode opcode;
    long value;
} code[CODE];
static int n_code;
static const char *at;

static struct node *make(enum kind kind, char operator, long value, struct node *a, struct node *b, struct node *c) {
    if (n_nodes == NODES)
        exit(2);
    struct node *n = &nodes[n_nodes++];
    *n = (struct node){kind, operator, value, a, b, c};
    return n;
}

static void blanks(void) {
    while (*at == ' ')
        at++;
}

static struct node *expression(int level);

static struct node *primary(void) {
    blanks();
    if (*at == '(') {
        at++;
        struct node *inner = expression(0);
        blanks();
        at += *at == ')';
        return inner;
    }
    if (isdigit((unsigned char)*at)) {
        char *end;
        long value = strtol(at, &end, 10);
        at = end;
        return make(NUMBER, 0, value, NULL, NULL, NULL);
    }
    return make(VARIABLE, 0, *at++ - 'a', NULL, NULL, NULL);
}

static int level_of(char operator) {
    switch (operator) {
    case '?':
        return 1;
    case '<':
        return 2;
    case '+':
    case '-':
        return 3;
    case '*':
    case '%':
        return 4;
    default:
        return 0;
    }
}

static struct node *expression(int level) {
    struct node *left = primary();
    for (;;) {
        blanks();
        char operator = *at;
        int binds = level_of(operator);
        if (binds == 0 || binds <= level)
            return left;
        at++;
        struct node *right = expression(operator == '?' ? 0 : binds);
        if (operator != '?') {
            left = make(BINARY, operator, 0, left, right, NULL);
            continue;
        }
        blanks();
        at += *at == ':';
        left = make(CHOICE, 0, 0, left, right, expression(0));
    }
}

static long apply(char operator, long a, long b) {
    switch (operator) {
    case '<':
        return a < b;
    case '+':
        return (long)((unsigned long)a + (unsigned long)b);
    case '-':
        return (long)((unsigned long)a - (unsigned long)b);
    case '*':
        return (long)((unsigned long)a * (unsigned long)b);
    default:
        return b > 0 ? a % b : 0;
    }
}

static struct node *fold(struct node *n) {
    if (n->kind == NUMBER || n->kind == VARIABLE)
        return n;
    n->a = fold(n->a);
    n->b = fold(n->b);
    if (n->kind == CHOICE) {
        n->c = fold(n->c);
        return n->a->kind != NUMBER ? n : n->a->value != 0 ? n->b : n->c;
    }
    if (n->a->kind == NUMBER && n->b->kind == NUMBER) {
        n->value = apply(n->operator, n->a->value, n->b->value);
        n->kind = NUMBER;
    } else if (n->operator == '*' && n->b->kind == NUMBER && n->b->value == 1)
        return n->a;
    return n;
}

static int emit(enum opcode opcode, long value) {
    if (n_code == CODE)
        exit(2);
    code[n_code].opcode = opcode;
    code[n_code].value = value;
    return n_code++;
}

static void generate(const struct node *n) {
    switch (n->kind) {
    case NUMBER:
        emit(PUSH, n->value);
        break;
    case VARIABLE:
        emit(LOAD, n->value);
        break;
    case BINARY:
        generate(n->a);
        generate(n->b);
        emit(APPLY, n->operator);
        break;
    case CHOICE:
        generate(n->a);
        int no = emit(BRANCH_ZERO, 0);
        generate(n->b);
        int done = emit(JUMP, 0);
        code[no].value = n_code;
        generate(n->c);
        code[done].value = n_code;
        break;
    }
}

static long run(const long *variables) {
    long stack[STACK];
    int top = 0;
    for (int i = 0; i < n_code; i++)
        switch (code[i].opcode) {
        case PUSH:
            stack[top++] = code[i].value;
            break;
        case LOAD:
            stack[top++] = variables[code[i].value];
            break;
        case APPLY:
            top--;
            stack[top - 1] = apply((char)code[i].value, stack[top - 1], stack[top]);
            break;
        case BRANCH_ZERO:
            if (stack[--top] == 0)
                i = (int)code[i].value - 1;
            break;
        case JUMP:
            i = (int)code[i].value - 1;
            break;
        }
    return stack[0];
}

static uint32_t seed = 1;

static uint32_t chance(uint32_t of) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % of;
}

static char *write_expression(char *to, int depth) {
    static const char *const operators[] = {" + ", " - ", " * ", " % ", " < "};
    if (depth == 0 || chance(8) == 0)
        return to + (chance(2) ? sprintf(to, "%u", chance(100)) : sprintf(to, "%c", 'a' + (int)chance(4)));
    *to++ = '(';
    to = write_expression(to, depth - 1);
    if (chance(6) == 0) {
        to += sprintf(to, " ? ");
        to = write_expression(to, depth - 1);
        to += sprintf(to, " : ");
    } else
        to += sprintf(to, "%s", operators[chance(5)]);
    to = write_expression(to, depth - 1);
    *to++ = ')';
    *to = 0;
    return to;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    static char text[1 << 16];
    long sum = 0;
    for (int r = 0; r < rounds; r++) {
        write_expression(text, 8);
        at = text;
        n_nodes = n_code = 0;
        generate(fold(expression(0)));
        for (long i = 0; i < 10; i++)
            sum += run((long[]){i, i * 3, 7 - i, r}) % 1000;
    }
    printf("%d functions: %ld\n", rounds, sum);
    return 0;
}
