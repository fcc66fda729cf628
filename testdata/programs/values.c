/* Conditions that are values by themselves: pointers, integers, bits, results of calls, in every statement that has one. */
#include <stdio.h>
#include <stdlib.h>

struct item {
    int key, flags;
    struct item *next;
};

static struct item *push(struct item *list, int key) {
    struct item *item = malloc(sizeof *item);
    if (!item)
        abort();
    item->key = key;
    item->flags = key * 7;
    item->next = list;
    return item;
}

__attribute__((noinline)) static int sum_for(struct item *list) {
    int sum = 0;
    for (struct item *p = list; p; p = p->next)
        sum += p->key;
    return sum;
}

__attribute__((noinline)) static int sum_while(struct item *p) {
    int sum = 0;
    while (p) {
        sum += p->flags;
        p = p->next;
    }
    return sum;
}

__attribute__((noinline)) static int sum_do(struct item *p) {
    int sum = 0;
    do {
        sum ^= p->key;
        p = p->next;
    } while (p);
    return sum;
}

__attribute__((noinline)) static struct item *find(struct item *list, int key) {
    struct item *p;
    for (p = list; p && p->key != key; p = p->next)
        ;
    return p;
}

__attribute__((noinline)) static int drop(struct item **list, int n) {
    int dropped = 0;
    struct item *p = *list, *next;
    for (; p; p = next) {
        next = p->next;
        if (n-- > 0) {
            dropped++;
            free(p);
        } else
            break;
    }
    *list = p;
    return dropped;
}

__attribute__((noinline)) static int count_down(int n) {
    int steps = 0;
    while (n--)
        steps += n & 3;
    return steps;
}

__attribute__((noinline)) static int count_for(int n, int step) {
    int steps = 0;
    for (; n; n -= step)
        steps += n % 3;
    return steps;
}

__attribute__((noinline)) static int bits(unsigned x) {
    int n = 0;
    while (x) {
        if (x & 4)
            n += 5;
        else
            n += 1;
        if (!(x & 1))
            n ^= 2;
        x >>= 1;
    }
    return n;
}

__attribute__((noinline)) static int flag(struct item *p, int wanted) {
    int r = 0;
    if (!p)
        return -1;
    if (p->flags && wanted)
        r += 1;
    if (!p->next || !wanted)
        r += printf("last\n");
    else
        r += 4;
    r += wanted ? atoi("12") : p->key;
    return r;
}

__attribute__((noinline)) static int length(const char *s) {
    int n = 0;
    for (; *s; s++)
        n++;
    return n;
}

__attribute__((noinline)) static const char *skip(const char *s) {
    while (*s && *s != ':')
        s++;
    return *s ? s + 1 : NULL;
}

__attribute__((noinline)) static int quotient(int a, int b) {
    int rounds = 0;
    while (b) {
        int t = a % b;
        a = b;
        b = t;
        rounds++;
    }
    return a + rounds;
}

__attribute__((noinline)) static int half(double x) {
    int n = 0;
    for (; x; n++)
        x = x > 0.1 ? x / 2 : 0;
    return n;
}

/* An optimiser asks `x == 0`, and bits of x: the opposite. */
__attribute__((noinline)) static int shifted(unsigned x, const char *s) {
    int y = 1u >> x;
    if (y)
        return 1;
    return atoi(s) + 2;
}

__attribute__((noinline)) static int chosen(unsigned x, const char *s) {
    int y = x & 1 ? 0 : 2;
    if (y)
        return 1;
    return atoi(s) + 2;
}

int main(int argc, char **argv) {
    struct item *list = NULL;
    int sum = 0;
    for (int i = 0; i < 40; i++)
        list = push(list, i * 13 % 17);
    sum += sum_for(list) + sum_while(list) + sum_do(list) + sum_for(NULL);
    for (int i = 0; i < 25; i++) {
        struct item *p = find(list, i);
        if (p)
            sum += p->flags;
        sum += shifted((unsigned)i % 4, "7") + chosen((unsigned)i % 3, "8");
        sum += flag(p, i % 3) + count_down(i) + count_for(i * 4, 4) + bits((unsigned)i * 37u) + quotient(i * 12, 30);
    }
    const char *rest = "a:bc:def";
    while ((rest = skip(rest)))
        sum += length(rest);
    sum += half(argc * 40.0);
    sum += drop(&list, 30) + sum_for(list);
    sum += drop(&list, 300);
    printf("%d %d\n", sum, argv[argc] == NULL);
    return 0;
}
