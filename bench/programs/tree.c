/* A balanced tree (AVL) of numbered words: put, removed, looked up, walked. tree KEYS ROUNDS SEED */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *left, *right;
    unsigned key, value;
    int height;
};

static struct node *unused;
static unsigned state;
static unsigned long sum;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static int height(const struct node *n) { return n == NULL ? 0 : n->height; }

static void measure(struct node *n) {
    int l = height(n->left), r = height(n->right);
    n->height = 1 + (l > r ? l : r);
}

static struct node *rotate_right(struct node *n) {
    struct node *l = n->left;
    n->left = l->right;
    l->right = n;
    measure(n);
    measure(l);
    return l;
}

static struct node *rotate_left(struct node *n) {
    struct node *r = n->right;
    n->right = r->left;
    r->left = n;
    measure(n);
    measure(r);
    return r;
}

static struct node *balance(struct node *n) {
    int lean = height(n->left) - height(n->right);
    if (lean > 1) {
        if (height(n->left->left) < height(n->left->right))
            n->left = rotate_left(n->left);
        return rotate_right(n);
    }
    if (lean < -1) {
        if (height(n->right->right) < height(n->right->left))
            n->right = rotate_right(n->right);
        return rotate_left(n);
    }
    measure(n);
    return n;
}

static struct node *put(struct node *n, unsigned key, unsigned value) {
    if (n == NULL) {
        n = unused;
        unused = n->left;
        *n = (struct node){NULL, NULL, key, value, 1};
        return n;
    }
    if (key == n->key) {
        n->value += value;
        return n;
    }
    if (key < n->key)
        n->left = put(n->left, key, value);
    else
        n->right = put(n->right, key, value);
    return balance(n);
}

/* Takes the least node out of n, which is not empty. */
static struct node *take_least(struct node *n, struct node **least) {
    if (n->left == NULL) {
        *least = n;
        return n->right;
    }
    n->left = take_least(n->left, least);
    return balance(n);
}

static struct node *cut(struct node *n, unsigned key) {
    if (n == NULL)
        return NULL;
    if (key < n->key) {
        n->left = cut(n->left, key);
    } else if (key > n->key) {
        n->right = cut(n->right, key);
    } else {
        struct node *left = n->left, *right = n->right, *next;
        n->left = unused;
        unused = n;
        if (right == NULL)
            return left;
        right = take_least(right, &next);
        next->left = left;
        next->right = right;
        n = next;
    }
    return balance(n);
}

static const struct node *find(const struct node *n, unsigned key) {
    while (n != NULL && n->key != key)
        n = key < n->key ? n->left : n->right;
    return n;
}

static void walk(const struct node *n, int depth) {
    if (n == NULL)
        return;
    walk(n->left, depth + 1);
    sum = sum * 31 + n->key + n->value * (unsigned long)depth;
    walk(n->right, depth + 1);
}

int main(int argc, char **argv) {
    unsigned keys = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (keys == 0)
        return 1;
    struct node *root = NULL, *pool = calloc(keys, sizeof *pool);
    for (unsigned i = 0; i < keys; i++) {
        pool[i].left = unused;
        unused = &pool[i];
    }
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < keys / 2; i++)
            root = put(root, next_random() % keys, r);
        for (unsigned i = 0; i < keys; i++) {
            const struct node *n = find(root, next_random() % keys);
            if (n != NULL)
                sum += n->value;
        }
        for (unsigned i = 0; i < keys / 3; i++)
            root = cut(root, next_random() % keys);
        walk(root, 0);
    }
    printf("%lu %d\n", sum, height(root));
    return 0;
}
