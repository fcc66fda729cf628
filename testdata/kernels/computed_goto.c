/* An interpreter by computed goto: sums, sorts and searches in its memory. computed_goto ROUNDS */
#include <stdio.h>
#include <stdlib.h>

enum op { LOADI, ADD, SUB, MUL, LOAD, STORE, LESS, JUMP, JUMP_IF, MOVE, HALT };

struct insn {
    unsigned char op, a, b, c;
    int value;
};

__attribute__((noinline)) static long run(const struct insn *code, long *memory) {
    static const void *const targets[] = {&&loadi, &&add, &&sub, &&mul, &&load, &&store, &&less, &&jump, &&jump_if, &&move, &&halt};
    long r[16] = {0};
    const struct insn *at = code;
#define NEXT goto *targets[at->op]
    NEXT;
loadi: r[at->a] = at->value; at++; NEXT;
add: r[at->a] = r[at->b] + r[at->c]; at++; NEXT;
sub: r[at->a] = r[at->b] - r[at->c]; at++; NEXT;
mul: r[at->a] = r[at->b] * r[at->c]; at++; NEXT;
load: r[at->a] = memory[r[at->b] & 1023]; at++; NEXT;
store: memory[r[at->b] & 1023] = r[at->a]; at++; NEXT;
less: r[at->a] = r[at->b] < r[at->c]; at++; NEXT;
jump: at = code + at->value; NEXT;
jump_if: at = r[at->a] ? code + at->value : at + 1; NEXT;
move: r[at->a] = r[at->b]; at++; NEXT;
halt: return r[0];
}

int main(int argc, char **argv) {
    /* r1: i, r2: 1, r3: limit, r4: a value, r5: a factor, r6: a comparison, r7: i - 1, r8: memory[i - 1] */
    static const struct insn code[] = {
        {LOADI, 1, 0, 0, 1}, {LOADI, 2, 0, 0, 1}, {LOADI, 3, 0, 0, 1000}, {LOADI, 5, 0, 0, 31},
        {LOAD, 4, 1, 0, 0}, {MUL, 4, 4, 5, 0}, {ADD, 4, 4, 1, 0}, {STORE, 4, 1, 0, 0},
        {SUB, 7, 1, 2, 0}, {LOAD, 8, 7, 0, 0}, {LESS, 6, 8, 4, 0}, {JUMP_IF, 6, 0, 0, 14},
        {STORE, 8, 1, 0, 0}, {STORE, 4, 7, 0, 0}, {ADD, 0, 0, 4, 0}, {ADD, 1, 1, 2, 0},
        {LESS, 6, 1, 3, 0}, {JUMP_IF, 6, 0, 0, 4}, {MOVE, 9, 0, 0, 0}, {HALT, 0, 0, 0, 0},
    };
    static long memory[1024];
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    long sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += run(code, memory) & 0xffff;
    printf("%ld\n", sum);
    return 0;
}
