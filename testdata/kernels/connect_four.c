/* Alpha-beta search of four in a row on 7 by 6 cells, with a table of positions. connect_four DEPTH GAMES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 7, HEIGHT = 6, COLUMN = HEIGHT + 1, ENTRIES = 1 << 18 };
typedef unsigned long bits;

static struct entry {
    bits key;
    signed char score, depth, bound;
} table[ENTRIES];
enum { EXACT, AT_LEAST, AT_MOST };

static bits stones[2];
static int filled[WIDTH];
static long nodes;
static unsigned state = 1;

__attribute__((noinline)) static int is_won(bits b) {
    static const int steps[] = {1, COLUMN, COLUMN - 1, COLUMN + 1};
    for (int i = 0; i < 4; i++) {
        bits pairs = b & (b >> steps[i]);
        if (pairs & (pairs >> 2 * steps[i]))
            return 1;
    }
    return 0;
}

static void put(int column, int player) { stones[player] |= 1UL << (column * COLUMN + filled[column]++); }

static void take(int column, int player) { stones[player] &= ~(1UL << (column * COLUMN + --filled[column])); }

static int count_open(bits b, bits other) {
    int n = 0;
    for (int c = 0; c < WIDTH; c++)
        for (int r = 0; r < HEIGHT; r++)
            if (b >> (c * COLUMN + r) & 1 && (r == 0 || !(other >> (c * COLUMN + r - 1) & 1)))
                n += c == WIDTH / 2 ? 3 : 1;
    return n;
}

__attribute__((noinline)) static struct entry *entry_of(bits key) { return &table[key * 0x9e3779b97f4a7c15UL >> 46]; }

__attribute__((noinline)) static int search(int depth, int alpha, int beta, int player) {
    static const int order[WIDTH] = {3, 2, 4, 1, 5, 0, 6};
    nodes++;
    if (is_won(stones[!player]))
        return -100 - depth % 20;
    if (depth == 0)
        return count_open(stones[player], stones[!player]) - count_open(stones[!player], stones[player]);
    bits key = stones[player] + (stones[0] | stones[1]) + (1UL << 50) * (bits)(player + 1);
    struct entry *e = entry_of(key);
    if (e->key == key && e->depth >= depth) {
        if (e->bound == EXACT)
            return e->score;
        if (e->bound == AT_LEAST && e->score > alpha)
            alpha = e->score;
        else if (e->bound == AT_MOST && e->score < beta)
            beta = e->score;
        if (alpha >= beta)
            return e->score;
    }
    int best = -127, from = alpha;
    for (int i = 0; i < WIDTH; i++) {
        int column = order[i];
        if (filled[column] == HEIGHT)
            continue;
        put(column, player);
        int score = -search(depth - 1, -beta, -alpha, !player);
        take(column, player);
        if (score > best)
            best = score;
        if (best > alpha)
            alpha = best;
        if (alpha >= beta)
            break;
    }
    if (best == -127)
        return 0;
    *e = (struct entry){key, (signed char)best, (signed char)depth, best <= from ? AT_MOST : best >= beta ? AT_LEAST : EXACT};
    return best;
}

int main(int argc, char **argv) {
    int depth = argc > 1 ? atoi(argv[1]) : 6, games = argc > 2 ? atoi(argv[2]) : 1;
    long sum = 0;
    for (int g = 0; g < games; g++) {
        memset(table, 0, sizeof table);
        memset(filled, 0, sizeof filled);
        stones[0] = stones[1] = 0;
        for (int i = 0; i < 6; i++) {
            state = state * 1103515245u + 12345u;
            put((int)((state >> 16) % WIDTH), i & 1);
        }
        sum += search(depth, -127, 127, 0);
    }
    printf("%ld %ld\n", sum, nodes);
    return 0;
}
