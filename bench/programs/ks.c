/* A graph in two halves with few edges between them, by exchanges of pairs that gain most (after Kernighan and Lin).
   ks VERTICES EDGES SEED */
#include <stdio.h>
#include <stdlib.h>

struct edge {
    int to, weight;
    struct edge *next;
};

/* A list of vertices that may still be exchanged. */
struct vertex {
    int number, side, gain;
    struct edge *edges;
    struct vertex *next;
};

static struct vertex *vertices;
static struct vertex *open[2];
static int n;
static unsigned state;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void connect(int from, int to, int weight) {
    struct edge *e = malloc(sizeof *e);
    *e = (struct edge){to, weight, vertices[from].edges};
    vertices[from].edges = e;
}

static int weight_between(const struct vertex *a, const struct vertex *b) {
    int weight = 0;
    for (const struct edge *e = a->edges; e != NULL; e = e->next)
        if (e->to == b->number)
            weight += e->weight;
    return weight;
}

/* What a vertex gains if it changes sides. */
static void find_gains(void) {
    for (int i = 0; i < n; i++) {
        struct vertex *v = &vertices[i];
        v->gain = 0;
        for (const struct edge *e = v->edges; e != NULL; e = e->next)
            if (vertices[e->to].side == v->side)
                v->gain -= e->weight;
            else
                v->gain += e->weight;
    }
}

static void list_all(void) {
    open[0] = open[1] = NULL;
    for (int i = n - 1; i >= 0; i--) {
        struct vertex *v = &vertices[i];
        v->next = open[v->side];
        open[v->side] = v;
    }
}

static void take(struct vertex *v) {
    struct vertex **at = &open[v->side];
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
}

/* The pair whose exchange gains most. */
static int best_pair(struct vertex **a, struct vertex **b) {
    int best = -1000000;
    for (struct vertex *x = open[0]; x != NULL; x = x->next)
        for (struct vertex *y = open[1]; y != NULL; y = y->next) {
            int gain = x->gain + y->gain;
            if (gain <= best)
                continue;
            gain -= 2 * weight_between(x, y);
            if (gain > best) {
                best = gain;
                *a = x;
                *b = y;
            }
        }
    return best;
}

/* Gains of the neighbours of v, which will be on the other side. */
static void update(const struct vertex *v) {
    for (const struct edge *e = v->edges; e != NULL; e = e->next) {
        struct vertex *w = &vertices[e->to];
        w->gain += w->side == v->side ? 2 * e->weight : -2 * e->weight;
    }
}

/* Plans exchanges of all pairs and makes the first of them, as many as gain most together; what they gain. */
static int pass(struct vertex **from, struct vertex **to) {
    int sum = 0, best = 0, exchanges = 0;
    find_gains();
    list_all();
    for (int i = 0; i < n / 2; i++) {
        sum += best_pair(&from[i], &to[i]);
        take(from[i]);
        take(to[i]);
        update(from[i]);
        update(to[i]);
        if (sum > best) {
            best = sum;
            exchanges = i + 1;
        }
    }
    for (int i = 0; i < exchanges; i++) {
        from[i]->side = 1;
        to[i]->side = 0;
    }
    return best;
}

static int cut(void) {
    int weight = 0;
    for (int i = 0; i < n; i++)
        for (const struct edge *e = vertices[i].edges; e != NULL; e = e->next)
            if (vertices[e->to].side != vertices[i].side)
                weight += e->weight;
    return weight / 2;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atoi(argv[1]) / 2 * 2 : 60;
    int edges = argc > 2 ? atoi(argv[2]) : 240, passes = 0;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (n < 2)
        return 1;
    vertices = calloc((size_t)n, sizeof *vertices);
    struct vertex **from = calloc((size_t)n, sizeof *from), **to = calloc((size_t)n, sizeof *to);
    for (int i = 0; i < n; i++) {
        vertices[i].number = i;
        vertices[i].side = i % 2;
    }
    for (int i = 0; i < edges; i++) {
        int a = (int)(next_random() % (unsigned)n), b = (int)(next_random() % (unsigned)n);
        int weight = 1 + (int)(next_random() % 4);
        if (a / 10 != b / 10 && next_random() % 3)
            continue;
        if (a != b) {
            connect(a, b, weight);
            connect(b, a, weight);
        }
    }
    int before = cut();
    while (pass(from, to) > 0)
        passes++;
    printf("%d %d %d\n", before, cut(), passes);
    return 0;
}
