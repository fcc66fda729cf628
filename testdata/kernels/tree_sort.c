/* Numbers that are put into a tree and read in order. tree_sort NUMBERS TIMES */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *left, *right;
    unsigned key;
};

static struct node *pool;
static unsigned used, state = 12345;
static unsigned long sum, position;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 4;
}

__attribute__((noinline)) static void insert(struct node **at, unsigned key) {
    while (*at != NULL)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = &pool[used++];
    **at = (struct node){NULL, NULL, key};
}

__attribute__((noinline)) static void walk(const struct node *n) {
    if (n->left != NULL)
        walk(n->left);
    sum += n->key * ++position;
    if (n->right != NULL)
        walk(n->right);
}

int main(int argc, char **argv) {
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 10000, times = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    pool = malloc(n * sizeof *pool);
    for (unsigned t = 0; t < times; t++) {
        struct node *root = NULL;
        used = 0;
        for (unsigned i = 0; i < n; i++)
            insert(&root, next_random());
        position = 0;
        walk(root);
    }
    printf("%lu\n", sum);
    return 0;
}
