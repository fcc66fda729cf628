/* Ray tracing: spheres over a checkered floor, one light, reflections (Whitted). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPHERES = 24, DEPTH = 4 };

struct vector {
    double x, y, z;
};

struct sphere {
    struct vector at;
    double radius, shine;
};

static struct sphere spheres[SPHERES];
static const struct vector light = {-6, 9, -8};

static struct vector plus(struct vector a, struct vector b, double times) {
    return (struct vector){a.x + b.x * times, a.y + b.y * times, a.z + b.z * times};
}

static double dot(struct vector a, struct vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static struct vector unit(struct vector a) {
    double length = sqrt(dot(a, a));
    return (struct vector){a.x / length, a.y / length, a.z / length};
}

/* How far along the ray the sphere is; 0: it is not. */
static double hit(const struct sphere *s, struct vector from, struct vector way) {
    struct vector to = plus(s->at, from, -1);
    double along = dot(to, way), off = dot(to, to) - along * along;
    if (along < 0 || off > s->radius * s->radius)
        return 0;
    double near = along - sqrt(s->radius * s->radius - off);
    return near > 1e-6 ? near : 0;
}

static const struct sphere *nearest(struct vector from, struct vector way, double *far) {
    const struct sphere *found = NULL;
    for (int i = 0; i < SPHERES; i++) {
        double at = hit(&spheres[i], from, way);
        if (at > 0 && at < *far) {
            *far = at;
            found = &spheres[i];
        }
    }
    return found;
}

static double lit(struct vector at, struct vector normal) {
    struct vector way = unit(plus(light, at, -1));
    double slope = dot(normal, way), far = 1e9;
    if (slope <= 0 || nearest(at, way, &far) != NULL)
        return 0.1;
    return 0.1 + 0.9 * slope;
}

static double trace(struct vector from, struct vector way, int depth) {
    double far = way.y < 0 ? -from.y / way.y : 1e9;
    const struct sphere *s = nearest(from, way, &far);
    if (s == NULL && way.y >= 0)
        return 0.3 + 0.3 * way.y;
    struct vector at = plus(from, way, far);
    if (s == NULL) {
        int dark = ((int)floor(at.x) + (int)floor(at.z)) & 1;
        return lit(at, (struct vector){0, 1, 0}) * (dark ? 0.3 : 0.9);
    }
    struct vector normal = unit(plus(at, s->at, -1));
    double color = lit(at, normal) * (1 - s->shine);
    if (depth < DEPTH)
        color += s->shine * trace(at, plus(way, normal, -2 * dot(way, normal)), depth + 1);
    return color;
}

int main(int argc, char **argv) {
    int size = argc > 1 ? atoi(argv[1]) : 300;
    for (int i = 0; i < SPHERES; i++)
        spheres[i] = (struct sphere){{i % 5 * 2 - 4, 1 + i % 3, i / 5 * 2}, 0.4 + i % 4 * 0.15, i % 6 * 0.12};
    double sum = 0;
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            struct vector way = {(x - size / 2.0) / size, (size / 2.0 - y) / size - 0.2, 1};
            sum += trace((struct vector){0, 3, -7}, unit(way), 0);
        }
    printf("%d pixels, %.4f bright\n", size * size, sum / size / size);
    return 0;
}
