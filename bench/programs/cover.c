/* Boolean functions as few products: cubes of two bits a variable are expanded against those of the complement, then
   those that others cover are dropped (after Espresso). cover VARIABLES CUBES SEED */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, VARIABLES = 32 };

/* Bits 2v and 2v + 1: whether the cube holds points with variable v false, true. */
typedef uint64_t cube;

struct cover {
    int n;
    cube c[MOST];
};

static struct cover on, off;
static unsigned state;
static int variables;
static cube all;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 9;
}

static void push(struct cover *f, cube c) {
    if (f->n == MOST) {
        fprintf(stderr, "cover: more than %d cubes\n", MOST);
        exit(1);
    }
    f->c[f->n++] = c;
}

/* The number of variables in which two cubes are disjoint. */
static int distance(cube a, cube b) {
    cube both = a & b, some = (both | both >> 1) & 0x5555555555555555u;
    return variables - __builtin_popcountll(some & all);
}

static int literals(cube c) {
    int n = 0;
    for (int v = 0; v < variables; v++)
        if ((c >> 2 * v & 3) != 3)
            n++;
    return n;
}

/* The variable that most cubes depend on; -1 if none does. */
static int most_binate(const struct cover *f) {
    int best = -1, best_count = 0;
    for (int v = 0; v < variables; v++) {
        int count = 0;
        for (int i = 0; i < f->n; i++)
            if ((f->c[i] >> 2 * v & 3) != 3)
                count++;
        if (count > best_count) {
            best = v;
            best_count = count;
        }
    }
    return best;
}

/* The cubes of f that meet half the space, with that variable free. */
static struct cover *cofactor(const struct cover *f, cube half) {
    struct cover *g = malloc(sizeof *g);
    g->n = 0;
    for (int i = 0; i < f->n; i++)
        if (distance(f->c[i], half) == 0)
            push(g, f->c[i] | (all & ~half));
    return g;
}

/* Adds what f lacks of `within` to `to`. */
static void complement(const struct cover *f, cube within, struct cover *to) {
    if (f->n == 0) {
        push(to, within);
        return;
    }
    for (int i = 0; i < f->n; i++)
        if (f->c[i] == all)
            return;
    int v = most_binate(f);
    for (int side = 1; side <= 2; side++) {
        cube half = (all & ~((cube)3 << 2 * v)) | (cube)side << 2 * v;
        struct cover *g = cofactor(f, half);
        complement(g, within & half, to);
        free(g);
    }
}

static int is_tautology(const struct cover *f) {
    for (int i = 0; i < f->n; i++)
        if (f->c[i] == all)
            return 1;
    int v = f->n > 0 ? most_binate(f) : -1;
    if (v < 0)
        return 0;
    int yes = 1;
    for (int side = 1; side <= 2 && yes; side++) {
        struct cover *g = cofactor(f, (all & ~((cube)3 << 2 * v)) | (cube)side << 2 * v);
        yes = is_tautology(g);
        free(g);
    }
    return yes;
}

/* Frees variables of each cube as long as it meets no cube of `off`; drops what it then holds. */
static void expand(struct cover *f) {
    for (int i = 0; i < f->n; i++) {
        for (int v = 0; v < variables; v++) {
            cube larger = f->c[i] | (cube)3 << 2 * v;
            int free_of_off = larger != f->c[i];
            for (int j = 0; j < off.n && free_of_off; j++)
                free_of_off = distance(larger, off.c[j]) > 0;
            if (free_of_off)
                f->c[i] = larger;
        }
        int kept = 0;
        for (int j = 0; j < f->n; j++)
            if (j <= i || (f->c[j] & ~f->c[i]) != 0)
                f->c[kept++] = f->c[j];
        f->n = kept;
    }
}

/* Drops each cube that the others cover. */
static void make_irredundant(struct cover *f) {
    struct cover *rest = malloc(sizeof *rest);
    for (int i = f->n - 1; i >= 0; i--) {
        rest->n = 0;
        for (int j = 0; j < f->n; j++)
            if (j != i && distance(f->c[j], f->c[i]) == 0)
                push(rest, f->c[j] | (all & ~f->c[i]));
        if (is_tautology(rest))
            f->c[i] = f->c[--f->n];
    }
    free(rest);
}

int main(int argc, char **argv) {
    variables = argc > 1 ? atoi(argv[1]) : 10;
    int cubes = argc > 2 ? atoi(argv[2]) : 30;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (variables < 2 || variables > VARIABLES - 1)
        return 1;
    all = ((cube)1 << 2 * variables) - 1;
    for (int i = 0; i < cubes; i++) {
        cube c = 0;
        for (int v = 0; v < variables; v++)
            c |= (cube)(next_random() % 3 + 1) << 2 * v;
        push(&on, c);
    }
    complement(&on, all, &off);
    int before = on.n, total = 0;
    expand(&on);
    make_irredundant(&on);
    uint64_t sum = 0;
    for (int i = 0; i < on.n; i++) {
        total += literals(on.c[i]);
        sum = sum * 31 + on.c[i];
    }
    printf("%d -> %d, %d literals, %d off, %llu\n", before, on.n, total, off.n, (unsigned long long)sum);
    return 0;
}
