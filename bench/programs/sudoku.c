/* Sudokus by exact cover with linked rows and columns (after Knuth's dancing links). sudoku PUZZLES CLUES SEED */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 81, COLUMNS = 4 * CELLS, NODES = 1 + COLUMNS + 4 * 729 };

struct node {
    struct node *left, *right, *up, *down, *column;
    int size, choice; /* rows in a column; cell · 9 + digit of a row */
};

static struct node nodes[NODES], *root = nodes;
static struct node *row_of[729];
static int used, answer[CELLS], solutions;
static long visited;
static unsigned state;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void build(void) {
    memset(nodes, 0, sizeof nodes);
    for (int i = 0; i <= COLUMNS; i++) {
        nodes[i].left = &nodes[i == 0 ? COLUMNS : i - 1];
        nodes[i].right = &nodes[i == COLUMNS ? 0 : i + 1];
        nodes[i].up = nodes[i].down = nodes[i].column = &nodes[i];
    }
    used = COLUMNS + 1;
    for (int cell = 0; cell < CELLS; cell++)
        for (int digit = 0; digit < 9; digit++) {
            int r = cell / 9, c = cell % 9, box = r / 3 * 3 + c / 3;
            int at[4] = {cell, CELLS + 9 * r + digit, 2 * CELLS + 9 * c + digit, 3 * CELLS + 9 * box + digit};
            struct node *first = &nodes[used];
            for (int i = 0; i < 4; i++) {
                struct node *n = &nodes[used++], *column = &nodes[1 + at[i]];
                n->column = column;
                n->choice = 9 * cell + digit;
                n->up = column->up;
                n->down = column;
                column->up->down = n;
                column->up = n;
                column->size++;
                n->left = i == 0 ? n : n - 1;
                n->right = first;
                n->left->right = n;
                first->left = n;
            }
            row_of[9 * cell + digit] = first;
        }
}

static void cover(struct node *column) {
    column->right->left = column->left;
    column->left->right = column->right;
    for (struct node *row = column->down; row != column; row = row->down)
        for (struct node *n = row->right; n != row; n = n->right) {
            n->down->up = n->up;
            n->up->down = n->down;
            n->column->size--;
        }
}

static void uncover(struct node *column) {
    for (struct node *row = column->up; row != column; row = row->up)
        for (struct node *n = row->left; n != row; n = n->left) {
            n->column->size++;
            n->down->up = n;
            n->up->down = n;
        }
    column->right->left = column;
    column->left->right = column;
}

static struct node *smallest(void) {
    struct node *best = root->right;
    for (struct node *c = best->right; c != root; c = c->right)
        if (c->size < best->size)
            best = c;
    return best;
}

static void choose(struct node *row) {
    answer[row->choice / 9] = row->choice % 9 + 1;
    for (struct node *n = row->right; n != row; n = n->right)
        cover(n->column);
}

/* Finds up to two solutions. */
static void search(void) {
    visited++;
    if (root->right == root) {
        solutions++;
        return;
    }
    struct node *column = smallest();
    if (column->size == 0)
        return;
    cover(column);
    for (struct node *row = column->down; row != column && solutions < 2; row = row->down) {
        choose(row);
        search();
        for (struct node *n = row->left; n != row; n = n->left)
            uncover(n->column);
    }
    uncover(column);
}

/* Clues of a solution whose digits, and whose rows and columns of three, are exchanged. */
static void make_puzzle(int clues, int *puzzle) {
    int digit[9], row[9];
    for (int i = 0; i < 9; i++)
        digit[i] = row[i] = i;
    for (int i = 8; i > 0; i--) {
        int j = (int)(next_random() % (unsigned)(i + 1)), d = digit[i];
        digit[i] = digit[j];
        digit[j] = d;
        int k = i / 3 * 3 + (int)(next_random() % 3), r = row[i];
        row[i] = row[k];
        row[k] = r;
    }
    memset(puzzle, 0, CELLS * sizeof *puzzle);
    while (clues > 0) {
        int cell = (int)(next_random() % CELLS), r = row[cell / 9], c = row[cell % 9];
        if (puzzle[cell] != 0)
            continue;
        puzzle[cell] = 1 + digit[(3 * r + r / 3 + c) % 9];
        clues--;
    }
}

int main(int argc, char **argv) {
    int puzzles = argc > 1 ? atoi(argv[1]) : 5, clues = argc > 2 ? atoi(argv[2]) : 28;
    unsigned long sum = 0;
    state = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (clues > CELLS)
        return 1;
    for (int p = 0; p < puzzles; p++) {
        int puzzle[CELLS];
        make_puzzle(clues, puzzle);
        build();
        solutions = 0;
        for (int cell = 0; cell < CELLS; cell++)
            if (puzzle[cell] != 0) {
                struct node *row = row_of[9 * cell + puzzle[cell] - 1];
                cover(row->column);
                choose(row);
            }
        search();
        for (int cell = 0; cell < CELLS; cell++)
            sum = sum * 31 + (unsigned long)answer[cell];
        sum += (unsigned long)solutions;
    }
    printf("%lu %ld\n", sum, visited);
    return 0;
}
