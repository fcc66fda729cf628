/* Bodies that attract each other, by an octree of their masses (after Barnes and Hut). bh BODIES STEPS SEED */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double x, y, z;
} vec;

struct body {
    vec at, speed, pull;
    double mass;
};

/* A cube: empty, with one body, or with eight smaller cubes. */
struct cell {
    vec middle, centre;
    double half, mass;
    const struct body *only;
    struct cell *part[8];
    int is_split;
};

static struct cell *cells;
static int used, capacity;
static unsigned state;

static double next_random(void) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

static struct cell *new_cell(vec middle, double half) {
    if (used == capacity) {
        fprintf(stderr, "bh: no room for more cells\n");
        exit(1);
    }
    struct cell *c = &cells[used++];
    *c = (struct cell){.middle = middle, .half = half};
    return c;
}

static int octant(const struct cell *c, vec at) {
    int which = 0;
    if (at.x >= c->middle.x)
        which |= 1;
    if (at.y >= c->middle.y)
        which |= 2;
    if (at.z >= c->middle.z)
        which |= 4;
    return which;
}

static void insert(struct cell *c, const struct body *b) {
    if (!c->is_split && c->only == NULL) {
        c->only = b;
        return;
    }
    if (!c->is_split) {
        const struct body *old = c->only;
        if (c->half < 1e-9)
            return;
        c->only = NULL;
        c->is_split = 1;
        insert(c, old);
    }
    int which = octant(c, b->at);
    if (c->part[which] == NULL) {
        double h = c->half / 2;
        vec m = {c->middle.x + (which & 1 ? h : -h), c->middle.y + (which & 2 ? h : -h),
                 c->middle.z + (which & 4 ? h : -h)};
        c->part[which] = new_cell(m, h);
    }
    insert(c->part[which], b);
}

/* Masses and their centres, from the leaves up. */
static void weigh(struct cell *c) {
    if (!c->is_split) {
        c->mass = c->only != NULL ? c->only->mass : 0;
        if (c->only != NULL)
            c->centre = c->only->at;
        return;
    }
    vec sum = {0, 0, 0};
    for (int i = 0; i < 8; i++) {
        struct cell *p = c->part[i];
        if (p == NULL)
            continue;
        weigh(p);
        c->mass += p->mass;
        sum.x += p->mass * p->centre.x;
        sum.y += p->mass * p->centre.y;
        sum.z += p->mass * p->centre.z;
    }
    c->centre = (vec){sum.x / c->mass, sum.y / c->mass, sum.z / c->mass};
}

static void attract(struct body *b, const struct cell *c) {
    double dx = c->centre.x - b->at.x, dy = c->centre.y - b->at.y, dz = c->centre.z - b->at.z;
    double square = dx * dx + dy * dy + dz * dz;
    if (c->is_split && 4 * c->half * c->half > 0.49 * square) {
        for (int i = 0; i < 8; i++)
            if (c->part[i] != NULL)
                attract(b, c->part[i]);
        return;
    }
    if (c->only == b || c->mass == 0)
        return;
    square += 1e-4;
    double force = c->mass / (square * sqrt(square));
    b->pull.x += force * dx;
    b->pull.y += force * dy;
    b->pull.z += force * dz;
}

static void move(double *at, double *speed, double pull) {
    *speed += pull * 1e-3;
    *at += *speed * 1e-2;
    if (*at < 0) {
        *at = -*at;
        *speed = -*speed;
    } else if (*at > 1) {
        *at = 2 - *at;
        *speed = -*speed;
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 500, steps = argc > 2 ? atoi(argv[2]) : 2;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    struct body *bodies = calloc((size_t)n, sizeof *bodies);
    cells = calloc((size_t)(capacity = 40 * n + 64), sizeof *cells);
    for (int i = 0; i < n; i++) {
        double dense = i % 3 ? 1 : 0.25;
        bodies[i].at = (vec){next_random() * dense, next_random() * dense, next_random()};
        bodies[i].mass = 0.5 + next_random();
    }
    for (int s = 0; s < steps; s++) {
        used = 0;
        struct cell *root = new_cell((vec){0.5, 0.5, 0.5}, 0.5);
        for (int i = 0; i < n; i++)
            insert(root, &bodies[i]);
        weigh(root);
        for (int i = 0; i < n; i++) {
            struct body *b = &bodies[i];
            b->pull = (vec){0, 0, 0};
            attract(b, root);
            move(&b->at.x, &b->speed.x, b->pull.x);
            move(&b->at.y, &b->speed.y, b->pull.y);
            move(&b->at.z, &b->speed.z, b->pull.z);
        }
    }
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += bodies[i].at.x + 2 * bodies[i].at.y + 3 * bodies[i].at.z;
    printf("%.6f %d\n", sum, used);
    return 0;
}
