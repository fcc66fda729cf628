/* A minimum spanning tree of a graph whose weights are in hash tables, one for each vertex (after Prim). mst VERTICES
   DEGREE SEED */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct entry {
    unsigned key;
    int weight;
    struct entry *next;
};

struct vertex {
    unsigned number;
    int distance;
    struct entry **buckets;
    struct vertex *next;
};

static struct vertex *vertices;
static unsigned n, bucket_count, state;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static unsigned hash(unsigned key) { return key * 2654435761u >> 16 & (bucket_count - 1); }

static struct entry *look_up(const struct vertex *v, unsigned key) {
    for (struct entry *e = v->buckets[hash(key)]; e != NULL; e = e->next)
        if (e->key == key)
            return e;
    return NULL;
}

static void put(struct vertex *v, unsigned key, int weight) {
    struct entry *e = look_up(v, key);
    if (e == NULL) {
        e = malloc(sizeof *e);
        struct entry **bucket = &v->buckets[hash(key)];
        *e = (struct entry){key, weight, *bucket};
        *bucket = e;
    } else if (weight < e->weight) {
        e->weight = weight;
    }
}

static void connect(unsigned a, unsigned b, int weight) {
    put(&vertices[a], b, weight);
    put(&vertices[b], a, weight);
}

/* A ring, so that the graph is connected, and random edges. */
static void make_graph(unsigned degree) {
    vertices = calloc(n, sizeof *vertices);
    for (unsigned i = 0; i < n; i++) {
        vertices[i].number = i;
        vertices[i].buckets = calloc(bucket_count, sizeof *vertices[i].buckets);
    }
    for (unsigned i = 0; i < n; i++) {
        connect(i, (i + 1) % n, 1000 + (int)(next_random() % 1000));
        for (unsigned j = 0; j < degree / 2; j++) {
            unsigned other = next_random() % n;
            if (other != i)
                connect(i, other, 1 + (int)(next_random() % 2000));
        }
    }
}

/* Takes the vertex nearest to the tree out of the list, after distances by way of the newest, `added`, are known. */
static struct vertex *take_nearest(struct vertex **list, const struct vertex *added) {
    struct vertex **best = NULL;
    int least = INT_MAX;
    for (struct vertex **at = list; *at != NULL; at = &(*at)->next) {
        struct vertex *v = *at;
        const struct entry *e = look_up(v, added->number);
        if (e != NULL && e->weight < v->distance)
            v->distance = e->weight;
        if (v->distance < least) {
            least = v->distance;
            best = at;
        }
    }
    struct vertex *nearest = *best;
    *best = nearest->next;
    return nearest;
}

static long tree_weight(void) {
    struct vertex *list = NULL, *added = &vertices[0];
    long sum = 0;
    for (unsigned i = n - 1; i > 0; i--) {
        vertices[i].distance = INT_MAX - 1;
        vertices[i].next = list;
        list = &vertices[i];
    }
    while (list != NULL) {
        added = take_nearest(&list, added);
        sum += added->distance;
    }
    return sum;
}

int main(int argc, char **argv) {
    n = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
    unsigned degree = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (n < 3)
        return 1;
    for (bucket_count = 1; bucket_count < degree / 2;)
        bucket_count *= 2;
    make_graph(degree);
    printf("%ld\n", tree_weight());
    return 0;
}
