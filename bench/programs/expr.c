/* Expressions: random ones are printed, parsed to operations of a stack machine, and run for many values.
   expr EXPRESSIONS VALUES SEED */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT = 1 << 14, CODE = 1 << 12, STACK = 256 };
enum op { PUSH, LOAD, ADD, SUB, MUL, DIV, MOD, AND, OR, NEG, NOT, LESS, EQUAL, JUMP_ZERO, JUMP, END };

struct operation {
    enum op op;
    long value;
};

static char text[TEXT];
static int length, count;
static const char *at;
static struct operation code[CODE];
static unsigned state;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void put(const char *s) {
    while (*s != 0 && length < TEXT - 1)
        text[length++] = *s++;
}

/* Writes a random expression. */
static void generate(int depth) {
    static const char *const operators[] = {"+", "-", "*", "/", "%", "<", "==", "&&", "||"};
    char number[16];
    unsigned kind = depth == 0 ? next_random() % 2 : next_random() % 12;
    switch (kind) {
    case 0:
        snprintf(number, sizeof number, "%u", next_random() % 1000);
        put(number);
        break;
    case 1:
        snprintf(number, sizeof number, "%c", 'a' + (int)(next_random() % 8));
        put(number);
        break;
    case 2:
        put(next_random() % 2 ? "-" : "!");
        generate(depth - 1);
        break;
    case 3:
        put("(");
        generate(depth - 1);
        put(" ? ");
        generate(depth - 1);
        put(" : ");
        generate(depth - 1);
        put(")");
        break;
    default:
        put("(");
        generate(depth - 1);
        put(operators[next_random() % 9]);
        generate(depth - 1);
        put(")");
    }
}

static int emit(enum op op, long value) {
    if (count == CODE) {
        fprintf(stderr, "expr: more than %d operations\n", CODE);
        exit(1);
    }
    code[count] = (struct operation){op, value};
    return count++;
}

static int accept(char c) {
    while (*at == ' ')
        at++;
    if (*at != c)
        return 0;
    at++;
    return 1;
}

static void expression(int level);

static void primary(void) {
    if (accept('(')) {
        expression(0);
        if (accept('?')) {
            int over = emit(JUMP_ZERO, 0);
            expression(0);
            int end = emit(JUMP, 0);
            code[over].value = count;
            accept(':');
            expression(0);
            code[end].value = count;
        }
        accept(')');
    } else if (accept('-')) {
        primary();
        emit(NEG, 0);
    } else if (accept('!')) {
        primary();
        emit(NOT, 0);
    } else if (isdigit((unsigned char)*at)) {
        long value = 0;
        while (isdigit((unsigned char)*at))
            value = value * 10 + (*at++ - '0');
        emit(PUSH, value);
    } else {
        emit(LOAD, *at++ - 'a');
    }
}

/* The operator here, if it binds as tightly as `level`; -1 otherwise. */
static int operator_at(int level) {
    while (*at == ' ')
        at++;
    switch (*at) {
    case '|':
        return level == 0 ? (at += 2, OR) : -1;
    case '&':
        return level == 1 ? (at += 2, AND) : -1;
    case '=':
        return level == 2 ? (at += 2, EQUAL) : -1;
    case '<':
        return level == 3 ? (at++, LESS) : -1;
    case '+':
        return level == 4 ? (at++, ADD) : -1;
    case '-':
        return level == 4 ? (at++, SUB) : -1;
    case '*':
        return level == 5 ? (at++, MUL) : -1;
    case '/':
        return level == 5 ? (at++, DIV) : -1;
    case '%':
        return level == 5 ? (at++, MOD) : -1;
    default:
        return -1;
    }
}

static void expression(int level) {
    if (level == 6) {
        primary();
        return;
    }
    expression(level + 1);
    for (int op; (op = operator_at(level)) >= 0;) {
        expression(level + 1);
        emit((enum op)op, 0);
    }
}

static long run(const long *variables) {
    long stack[STACK], *top = stack, right;
    for (const struct operation *pc = code;; pc++)
        switch (pc->op) {
        case PUSH: *++top = pc->value; break;
        case LOAD: *++top = variables[pc->value]; break;
        case ADD: right = *top--; *top = (long)((unsigned long)*top + (unsigned long)right); break;
        case SUB: right = *top--; *top = (long)((unsigned long)*top - (unsigned long)right); break;
        case MUL: right = *top--; *top = (long)(int)((unsigned long)*top * (unsigned long)right); break;
        case DIV: right = *top--; *top = right > 0 ? *top / right : 0; break;
        case MOD: right = *top--; *top = right > 0 ? *top % right : 0; break;
        case AND: right = *top--; *top = *top && right; break;
        case OR: right = *top--; *top = *top || right; break;
        case LESS: right = *top--; *top = *top < right; break;
        case EQUAL: right = *top--; *top = *top == right; break;
        case NEG: *top = (long)-(unsigned long)*top; break;
        case NOT: *top = !*top; break;
        case JUMP_ZERO: if (*top-- == 0) pc = code + pc->value - 1; break;
        case JUMP: pc = code + pc->value - 1; break;
        case END: return *top;
        }
}

int main(int argc, char **argv) {
    int expressions = argc > 1 ? atoi(argv[1]) : 20, values = argc > 2 ? atoi(argv[2]) : 100;
    unsigned long sum = 0;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    for (int e = 0; e < expressions; e++) {
        length = count = 0;
        generate(6);
        text[length] = 0;
        at = text;
        expression(0);
        emit(END, 0);
        for (int v = 0; v < values; v++) {
            long variables[8];
            for (int i = 0; i < 8; i++)
                variables[i] = (long)(next_random() % 200) - 50;
            sum = sum * 31 + (unsigned long)run(variables);
        }
    }
    printf("%lu\n", sum);
    return 0;
}
