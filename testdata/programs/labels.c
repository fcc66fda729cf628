/* Interpreters by computed goto whose tables of labels are odd. */
#include <stddef.h>
#include <stdio.h>

enum { PUSH, ADD, DROP, LOOP, CALL, NONE, JUMP_IF, HALT };

static const void *noted[8];
static int notes;

__attribute__((noinline)) static void note(const void *label) { noted[notes++ & 7] = label; }

/* Operation NONE has no label; an operation holds a loop, another one calls the interpreter. */
__attribute__((noinline)) static long interpreted(const int *code, int depth) {
    static const void *const labels[] = {&&push, &&add, &&drop, &&loop, &&call, NULL, &&jump_if, &&halt};
    long stack[16] = {0}, *top = stack + 1;
    const int *pc = code;
    long last = 0;
#define NEXT                             \
    do {                                 \
        if (labels[*pc] == NULL)         \
            pc++;                        \
        goto *labels[*pc++];             \
    } while (0)
    NEXT;
push:
    *++top = *pc++;
    NEXT;
add:
    top--;
    *top += top[1];
    NEXT;
drop:
    top--;
    NEXT;
loop:
    for (int i = 0; i < *top; i++) {
        if ((i ^ depth) % 3 == 0)
            continue;
        last += i;
        if (last > 1000)
            break;
    }
    NEXT;
call:
    if (depth < 3)
        *top += interpreted(code, depth + 1);
    NEXT;
jump_if:
    if (--top[0] > 0)
        pc = code + *pc;
    else
        pc++;
    NEXT;
halt:
    return last + *top;
#undef NEXT
}

/* Labels are compared, and their addresses go elsewhere: such jumps stay. */
__attribute__((noinline)) static long compared(const int *code) {
    static const void *const labels[] = {&&push, &&add, &&drop, &&halt};
    long stack[16] = {0}, *top = stack;
    long last = 0;
#define NEXT                               \
    do {                                   \
        const void *to = labels[*code++];  \
        if (to == &&halt)                  \
            last += 100;                   \
        goto *to;                          \
    } while (0)
    NEXT;
push:
    *++top = *code++;
    NEXT;
add:
    top--;
    *top += top[1];
    note(&&add);
    NEXT;
drop:
    top--;
    note(&&drop);
    NEXT;
halt:
    note(&&halt);
    return last + *top;
#undef NEXT
}

/* One of two tables, indexed from the middle. */
__attribute__((noinline)) static int chosen(const signed char *code, int forward) {
    static const void *const up[] = {&&less, &&less, &&stay, &&more, &&more, &&end};
    static const void *const down[] = {&&more, &&more, &&stay, &&less, &&less, &&end};
    const void *const *middle = (forward ? up : down) + 2;
    int n = 0;
    goto *middle[*code++];
less:
    n -= 3;
    goto *middle[*code++];
stay:
    if (n & 1)
        n ^= 5;
    goto *middle[*code++];
more:
    n += 2;
    goto *middle[*code++];
end:
    return n;
}

/* Labels as they are. */
__attribute__((noinline)) static int bare(int n) {
    int odd = 0, steps = 0;
    goto *(n & 1 ? &&is_odd : &&is_even);
is_odd:
    odd++;
    n = 3 * n + 1;
    steps++;
    goto *(n == 1 ? &&done : n & 1 ? &&is_odd : &&is_even);
is_even:
    n /= 2;
    steps++;
    goto *(n == 1 ? &&done : n & 1 ? &&is_odd : &&is_even);
done:
    return steps * 100 + odd;
}

/* Distances between labels: nothing is known of where it jumps. */
__attribute__((noinline)) static int relative(const char *code) {
    static const int distance[] = {&&zero - &&zero, &&one - &&zero, &&two - &&zero};
    int n = 1;
    goto *(&&zero + distance[*code++ - '0']);
zero:
    return n;
one:
    n = 2 * n + 1;
    goto *(&&zero + distance[*code++ - '0']);
two:
    if (n % 5 > 2)
        n += 7;
    goto *(&&zero + distance[*code++ - '0']);
}

/* The program writes the labels. */
__attribute__((noinline)) static int threaded(const char *text, int n) {
    const void *code[16];
    for (int i = 0; i < n; i++)
        code[i] = text[i] == '+' ? &&plus : text[i] == '*' ? &&times : &&stop;
    const void **at = code;
    int value = 1;
    goto **at++;
plus:
    value++;
    goto **at++;
times:
    value *= value & 1 ? 3 : 2;
    goto **at++;
stop:
    return value;
}

/* A table of structures, of which other fields are read. */
__attribute__((noinline)) static long described(const unsigned char *code) {
    static const struct {
        const char *name;
        const void *label;
        long weight;
    } operations[] = {{"inc", &&inc, 1}, {"dec", &&dec, 2}, {"out", &&out, 4}};
    long n = 0, weight = 0;
#define NEXT                                  \
    do {                                      \
        weight += operations[*code].weight;   \
        goto *operations[*code++].label;      \
    } while (0)
    NEXT;
inc:
    n += 5;
    NEXT;
dec:
    n -= n > 6 ? 4 : 1;
    NEXT;
out:
    return 1000 * n + weight + operations[1].name[0];
#undef NEXT
}

int main(void) {
    static const int code[] = {PUSH, 4,    PUSH, 3,    LOOP, ADD,     NONE, LOOP, CALL, PUSH, 2,
                               NONE, DROP, LOOP, PUSH, 1,    JUMP_IF, 4,    DROP, HALT};
    printf("%ld %ld\n", interpreted(code, 0), interpreted(code, 2));
    static const int short_code[] = {0, 7, 0, 8, 0, 9, 1, 2, 3};
    printf("%ld %ld\n", compared(short_code), compared(short_code + 2));
    int known = 0;
    for (int i = 0; i < 8; i++)
        known += noted[i] == noted[7];
    printf("%d %d\n", notes, known);
    static const signed char steps[] = {0, 1, 2, -1, -2, 0, 1, 0, 2, 3};
    for (int i = 0; i < 3; i++)
        printf("%d %d\n", chosen(steps + i, 1), chosen(steps + i, 0));
    int sum = 0;
    for (int i = 2; i < 40; i++)
        sum += bare(i);
    printf("%d\n", sum);
    printf("%d %d\n", relative("1212210"), relative("0"));
    printf("%d %d\n", threaded("+**+*+.", 7), threaded(".", 1));
    static const unsigned char described_code[] = {0, 0, 1, 0, 1, 1, 0, 2};
    printf("%ld %ld\n", described(described_code), described(described_code + 7));
    return 0;
}
