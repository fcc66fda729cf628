/* A machine with registers, memory and calls, whose operations are chosen by a switch, runs programs that are assembled
   from text. vm NUMBER ROUNDS SEED */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum op {
    SET, MOVE, ADD, SUB, MUL, AND, SHIFT, LESS, EQUAL, JUMP, IF, UNLESS, LOAD, STORE, CALL, RETURN, PUSH, POP, RANDOM,
    HALT, OPS
};
enum { CODE = 256, MEMORY = 1 << 14, STACK = 1 << 12 };

struct operation {
    uint8_t op, a, b, c;
    int32_t value;
};

static const char *const names[OPS] = {"set", "move", "add", "sub", "mul", "and", "shift", "less", "equal", "jump",
                                       "if", "unless", "load", "store", "call", "return",
                                       "push", "pop", "random", "halt"};
/* Of each operation: r a register, n a number, l a label. */
static const char *const operands[OPS] = {"rn", "rr", "rrr", "rrr", "rrr", "rrr", "rrn", "rrr", "rrr", "l",
                                          "rl", "rl", "rr", "rr", "l", "", "r", "r", "r", "h"};

/* Each gets a number in r1, and returns in r0. */
static const char *const sieve =
    "set r2 2; set r6 1; set r0 0; :next less r3 r2 r1; unless r3 done; load r3 r2; if r3 skip; add r0 r0 r6; "
    "add r4 r2 r2; :mark less r5 r4 r1; unless r5 skip; store r6 r4; add r4 r4 r2; jump mark; "
    ":skip add r2 r2 r6; jump next; :done halt";
static const char *const fibonacci =
    "set r6 1; call fib; halt; :fib set r2 2; less r3 r1 r2; unless r3 deep; move r0 r1; return; "
    ":deep push r1; sub r1 r1 r6; call fib; pop r1; push r0; sub r1 r1 r2; call fib; pop r2; "
    "add r0 r0 r2; set r2 2; return";
static const char *const sort =
    "set r6 1; set r2 0; :fill less r3 r2 r1; unless r3 filled; random r4; store r4 r2; add r2 r2 r6; jump fill; "
    ":filled set r2 1; :outer less r3 r2 r1; unless r3 sum; load r4 r2; move r5 r2; "
    ":inner set r7 0; equal r3 r5 r7; if r3 put; sub r8 r5 r6; load r9 r8; less r3 r4 r9; unless r3 put; "
    "store r9 r5; move r5 r8; jump inner; :put store r4 r5; add r2 r2 r6; jump outer; "
    ":sum set r2 0; set r0 0; :more less r3 r2 r1; unless r3 end; load r4 r2; mul r4 r4 r2; add r0 r0 r4; "
    "add r2 r2 r6; jump more; :end halt";
static const char *const collatz =
    "set r6 1; set r0 0; :from move r2 r1; :step less r3 r6 r2; unless r3 low; add r0 r0 r6; and r3 r2 r6; "
    "unless r3 even; set r4 3; mul r2 r2 r4; add r2 r2 r6; jump step; :even shift r2 r2 -1; jump step; "
    ":low sub r1 r1 r6; less r3 r6 r1; if r3 from; halt";

static struct operation code[CODE];
static int count, label_count;
static struct {
    char name[12];
    int at;
} labels[32];
static int32_t memory[MEMORY], stack[STACK];
static unsigned state;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void fail(const char *what, const char *word) {
    fprintf(stderr, "vm: %s: %s\n", what, word);
    exit(1);
}

static int find_label(const char *name) {
    for (int i = 0; i < label_count; i++)
        if (strcmp(labels[i].name, name) == 0)
            return labels[i].at;
    return -1;
}

static const char *word(const char *text, char *to) {
    int n = 0;
    while (*text == ' ' || *text == ';')
        text++;
    while (*text != 0 && *text != ' ' && *text != ';' && n < 11)
        to[n++] = *text++;
    to[n] = 0;
    return text;
}

/* Twice: labels are known the second time. */
static void assemble(const char *text) {
    char w[12];
    count = 0;
    while (*(text = word(text, w), w) != 0) {
        if (w[0] == ':') {
            if (find_label(w + 1) < 0) {
                strcpy(labels[label_count].name, w + 1);
                labels[label_count++].at = count;
            }
            continue;
        }
        int op = 0;
        while (op < OPS && strcmp(names[op], w) != 0)
            op++;
        if (op == OPS || count == CODE)
            fail("no operation", w);
        struct operation *o = &code[count++];
        uint8_t *registers[3] = {&o->a, &o->b, &o->c};
        *o = (struct operation){.op = (uint8_t)op};
        for (int i = 0; operands[op][i] != 0 && operands[op][i] != 'h'; i++) {
            text = word(text, w);
            switch (operands[op][i]) {
            case 'r': *registers[i] = (uint8_t)atoi(w + 1); break;
            case 'n': o->value = atoi(w); break;
            default: o->value = find_label(w);
            }
        }
    }
}

static int32_t run(int32_t argument, long *steps) {
    int32_t r[16] = {0, argument};
    int top = 0;
    for (const struct operation *o = code;; o++) {
        ++*steps;
        switch ((enum op)o->op) {
        case SET: r[o->a] = o->value; break;
        case MOVE: r[o->a] = r[o->b]; break;
        case ADD: r[o->a] = (int32_t)((uint32_t)r[o->b] + (uint32_t)r[o->c]); break;
        case SUB: r[o->a] = (int32_t)((uint32_t)r[o->b] - (uint32_t)r[o->c]); break;
        case MUL: r[o->a] = (int32_t)((uint32_t)r[o->b] * (uint32_t)r[o->c]); break;
        case AND: r[o->a] = r[o->b] & r[o->c]; break;
        case SHIFT: r[o->a] = o->value < 0 ? r[o->b] >> -o->value : (int32_t)((uint32_t)r[o->b] << o->value); break;
        case LESS: r[o->a] = r[o->b] < r[o->c]; break;
        case EQUAL: r[o->a] = r[o->b] == r[o->c]; break;
        case JUMP: o = code + o->value - 1; break;
        case IF: if (r[o->a]) o = code + o->value - 1; break;
        case UNLESS: if (!r[o->a]) o = code + o->value - 1; break;
        case LOAD: r[o->a] = memory[r[o->b] & (MEMORY - 1)]; break;
        case STORE: memory[r[o->b] & (MEMORY - 1)] = r[o->a]; break;
        case CALL:
            if (top == STACK)
                fail("stack", "full");
            stack[top++] = (int32_t)(o - code); o = code + o->value - 1; break;
        case RETURN: o = code + stack[--top]; break;
        case PUSH: if (top == STACK) fail("stack", "full"); stack[top++] = r[o->a]; break;
        case POP: r[o->a] = stack[--top]; break;
        case RANDOM: r[o->a] = (int32_t)(next_random() % 10000); break;
        case HALT: case OPS: return r[0];
        }
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *const *text;
        int times, over;
    } programs[] = {{&sieve, 40, 1}, {&fibonacci, 1, 20}, {&sort, 1, 1}, {&collatz, 2, 1}};
    int number = argc > 1 ? atoi(argv[1]) : 100, rounds = argc > 2 ? atoi(argv[2]) : 1;
    long steps = 0;
    unsigned long sum = 0;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    for (int r = 0; r < rounds; r++)
        for (int p = 0; p < 4; p++) {
            label_count = 0;
            assemble(*programs[p].text);
            assemble(*programs[p].text);
            memset(memory, 0, sizeof memory);
            sum = sum * 31 + (unsigned long)run(number * programs[p].times / programs[p].over, &steps);
        }
    printf("%lu %ld\n", sum, steps);
    return 0;
}
