/* Alpha-beta search of a game on a board of 5 by 5: who has four in a row wins. game_tree DEPTH TIMES */
#include <stdio.h>
#include <stdlib.h>

enum { N = 5, CELLS = N * N };
static signed char board[CELLS];
static long nodes;

static int line(int at, int step, int length) {
    int sum = 0;
    for (int i = 0; i < length; i++)
        sum += board[at + i * step];
    return sum;
}

__attribute__((noinline)) static int evaluate(void) {
    int score = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            int at = y * N + x;
            if (x + 4 <= N) {
                int s = line(at, 1, 4);
                score += s == 4 ? 1000 : s == -4 ? -1000 : s * s * s;
            }
            if (y + 4 <= N) {
                int s = line(at, N, 4);
                score += s == 4 ? 1000 : s == -4 ? -1000 : s * s * s;
            }
            if (x + 4 <= N && y + 4 <= N)
                score += line(at, N + 1, 4) * 2;
        }
    return score;
}

__attribute__((noinline)) static int moves(signed char *out) {
    int n = 0;
    for (int i = 0; i < CELLS; i++) {
        if (board[i] != 0)
            continue;
        int near = (i % N > 0 && board[i - 1]) || (i % N < N - 1 && board[i + 1]) || (i >= N && board[i - N]) || (i + N < CELLS && board[i + N]);
        if (near || i == CELLS / 2)
            out[n++] = (signed char)i;
    }
    return n;
}

__attribute__((noinline)) static int search(int depth, int alpha, int beta, int player) {
    signed char list[CELLS];
    nodes++;
    int now = depth == 0 ? evaluate() * player : 0;
    if (depth == 0)
        return now;
    int n = moves(list);
    for (int i = 0; i < n; i++) {
        board[list[i]] = (signed char)player;
        int score = -search(depth - 1, -beta, -alpha, -player);
        board[list[i]] = 0;
        if (score > alpha)
            alpha = score;
        if (alpha >= beta)
            break;
    }
    return alpha;
}

int main(int argc, char **argv) {
    int depth = argc > 1 ? atoi(argv[1]) : 4, times = argc > 2 ? atoi(argv[2]) : 1, score = 0;
    for (int i = 0; i < times; i++) {
        board[i % CELLS] = 1;
        board[(i + 6) % CELLS] = -1;
        score += search(depth, -100000, 100000, 1);
        board[i % CELLS] = board[(i + 6) % CELLS] = 0;
    }
    printf("%d %ld\n", score, nodes);
    return 0;
}
