/* Electric and magnetic fields on a graph of two kinds of nodes, each computed from its neighbours of the other kind.
   em3d NODES DEGREE STEPS SEED */
#include <stdio.h>
#include <stdlib.h>

struct node {
    double value;
    struct node *next;
    int from_count, to_count, filled;
    double **from; /* values of neighbours … */
    double *weight; /* … and what each is worth */
    struct node **to;
};

static unsigned state;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void *allocate(size_t n, size_t size) {
    void *p = calloc(n > 0 ? n : 1, size);
    if (p == NULL) {
        fprintf(stderr, "em3d: no memory\n");
        exit(1);
    }
    return p;
}

/* A list of nodes; all[i] is the i-th of them. */
static struct node *make_list(int n, struct node **all) {
    struct node *first = NULL;
    for (int i = n - 1; i >= 0; i--) {
        struct node *node = allocate(1, sizeof *node);
        node->value = (next_random() % 1000) / 1000.0;
        node->next = first;
        all[i] = first = node;
    }
    return first;
}

/* Neighbours of the other kind, different ones, most of them near. */
static void make_neighbours(struct node *list, struct node **others, int n, int degree) {
    int at = 0;
    for (struct node *node = list; node != NULL; node = node->next, at++) {
        node->to_count = degree;
        node->to = allocate((size_t)degree, sizeof *node->to);
        for (int i = 0; i < degree; i++) {
            struct node *other;
            int seen;
            do {
                int where = next_random() % 4 ? at + (int)(next_random() % 32) - 16
                                              : (int)(next_random() % (unsigned)n);
                if (where < 0)
                    where += n;
                if (where >= n)
                    where -= n;
                other = others[where];
                seen = 0;
                for (int j = 0; j < i && !seen; j++)
                    seen = node->to[j] == other;
            } while (seen);
            node->to[i] = other;
            other->from_count++;
        }
    }
}

static void allocate_from(struct node *list) {
    for (struct node *node = list; node != NULL; node = node->next) {
        node->from = allocate((size_t)node->from_count, sizeof *node->from);
        node->weight = allocate((size_t)node->from_count, sizeof *node->weight);
    }
}

static void fill_from(struct node *list) {
    for (struct node *node = list; node != NULL; node = node->next)
        for (int i = 0; i < node->to_count; i++) {
            struct node *other = node->to[i];
            other->from[other->filled] = &node->value;
            other->weight[other->filled++] = (next_random() % 1000) / 4000.0;
        }
}

static void compute(struct node *list) {
    for (; list != NULL; list = list->next) {
        double value = list->value;
        for (int i = 0; i < list->from_count; i++)
            value -= list->weight[i] * *list->from[i];
        list->value = value;
    }
}

/* Values stay small. */
static void damp(struct node *list) {
    for (; list != NULL; list = list->next)
        if (list->value > 1 || list->value < -1)
            list->value /= 16;
}

static double sum(const struct node *list) {
    double s = 0;
    for (; list != NULL; list = list->next)
        s += list->value;
    return s;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000, degree = argc > 2 ? atoi(argv[2]) : 8;
    int steps = argc > 3 ? atoi(argv[3]) : 10;
    state = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
    if (n < 2 * degree)
        return 1;
    struct node **e = allocate((size_t)n, sizeof *e), **h = allocate((size_t)n, sizeof *h);
    struct node *electric = make_list(n, e), *magnetic = make_list(n, h);
    make_neighbours(electric, h, n, degree);
    make_neighbours(magnetic, e, n, degree);
    allocate_from(electric);
    allocate_from(magnetic);
    fill_from(electric);
    fill_from(magnetic);
    for (int s = 0; s < steps; s++) {
        compute(electric);
        damp(electric);
        compute(magnetic);
        damp(magnetic);
    }
    printf("%.6f %.6f\n", sum(electric), sum(magnetic));
    return 0;
}
