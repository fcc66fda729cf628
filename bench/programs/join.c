/* Two tables joined by a hash table of open addresses, filtered, grouped and sorted. join ROWS KEYS ROUNDS SEED */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 64 };

struct order {
    uint32_t customer, amount;
    uint8_t kind;
};

struct customer {
    uint32_t id;
    uint8_t region, age;
};

struct group {
    uint32_t region, rows;
    uint64_t total, largest;
};

struct slot {
    uint32_t key, row;
};

static struct order *orders;
static struct customer *customers;
static struct slot *slots;
static uint32_t mask, order_count, customer_count, state;

static uint32_t next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static uint32_t hash(uint32_t key) {
    key ^= key >> 15;
    key *= 0x2c1b3c6du;
    key ^= key >> 12;
    return key;
}

static void make_tables(void) {
    for (uint32_t i = 0; i < customer_count; i++)
        customers[i] = (struct customer){i * 7 + 1, (uint8_t)(next_random() % GROUPS), (uint8_t)(next_random() % 100)};
    for (uint32_t i = 0; i < order_count; i++) {
        /* Some orders are of nobody; a few customers have most of them. */
        uint32_t who = next_random() % 4 ? next_random() % (customer_count / 8 + 1) : next_random() % customer_count;
        orders[i].customer = next_random() % 10 ? customers[who].id : 7 * who + 3;
        orders[i].amount = next_random() % 10000;
        orders[i].kind = (uint8_t)(next_random() % 5);
    }
}

static void build(uint8_t least_age) {
    memset(slots, 0, (mask + 1) * sizeof *slots);
    for (uint32_t i = 0; i < customer_count; i++) {
        if (customers[i].age < least_age)
            continue;
        uint32_t at = hash(customers[i].id) & mask;
        while (slots[at].key != 0)
            at = (at + 1) & mask;
        slots[at] = (struct slot){customers[i].id, i};
    }
}

static const struct customer *look_up(uint32_t id) {
    for (uint32_t at = hash(id) & mask; slots[at].key != 0; at = (at + 1) & mask)
        if (slots[at].key == id)
            return &customers[slots[at].row];
    return NULL;
}

/* Joins the orders above a limit, or of a kind, with their customers. */
static uint32_t probe(uint32_t limit, uint8_t kind, struct group *groups) {
    uint32_t joined = 0;
    for (uint32_t i = 0; i < order_count; i++) {
        const struct order *o = &orders[i];
        if (o->amount < limit && o->kind != kind)
            continue;
        const struct customer *c = look_up(o->customer);
        if (c == NULL)
            continue;
        struct group *g = &groups[c->region];
        g->rows++;
        g->total += o->amount;
        if (o->amount > g->largest)
            g->largest = o->amount;
        joined++;
    }
    return joined;
}

static int by_total(const void *a, const void *b) {
    const struct group *g = a, *h = b;
    if (g->total != h->total)
        return g->total < h->total ? 1 : -1;
    return g->region < h->region ? -1 : g->region > h->region;
}

int main(int argc, char **argv) {
    order_count = argc > 1 ? (uint32_t)atoi(argv[1]) : 20000;
    customer_count = argc > 2 ? (uint32_t)atoi(argv[2]) : 1000;
    int rounds = argc > 3 ? atoi(argv[3]) : 5;
    state = argc > 4 ? (uint32_t)atoi(argv[4]) : 1;
    if (customer_count == 0)
        return 1;
    for (mask = 1; mask < 2 * customer_count;)
        mask = 2 * mask + 1;
    orders = calloc(order_count, sizeof *orders);
    customers = calloc(customer_count, sizeof *customers);
    slots = calloc(mask + 1, sizeof *slots);
    make_tables();
    uint64_t sum = 0;
    for (int r = 0; r < rounds; r++) {
        struct group groups[GROUPS];
        for (uint32_t g = 0; g < GROUPS; g++)
            groups[g] = (struct group){g, 0, 0, 0};
        build((uint8_t)(10 * r % 60));
        sum = sum * 31 + probe(next_random() % 8000, (uint8_t)(r % 5), groups);
        qsort(groups, GROUPS, sizeof *groups, by_total);
        for (int g = 0; g < 5; g++)
            sum = sum * 31 + groups[g].region + groups[g].total + groups[g].largest;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
