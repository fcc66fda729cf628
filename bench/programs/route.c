/* A channel between two rows of pins: each net gets a track for its horizontal part, so that no two nets of a track
   overlap and no vertical parts meet; nets that cannot be placed are routed in a maze. route COLUMNS NETS CHANNELS
   SEED */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, TRACKS = 64 };

struct net {
    int left, right, track, above_count;
};

static struct net nets[MOST];
static int top[MOST], bottom[MOST], columns, net_count;
static unsigned char must_be_above[MOST][MOST];
static unsigned char grid[TRACKS + 2][MOST];
static short queue[(TRACKS + 2) * MOST][2], distance[TRACKS + 2][MOST];
static unsigned state;

static unsigned next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Pins 1 to net_count of each net, on both sides. */
static void make_channel(void) {
    memset(top, 0, sizeof top);
    memset(bottom, 0, sizeof bottom);
    for (int i = 1; i <= net_count; i++) {
        int at = (int)(next_random() % (unsigned)columns), pins = 2 + (int)(next_random() % 3);
        for (int p = 0; p < pins; p++) {
            int *side = next_random() % 2 ? top : bottom;
            int where = (at + (int)(next_random() % 24)) % columns;
            for (int tries = 0; side[where] != 0 && tries < columns; tries++)
                where = (where + 1) % columns;
            if (side[where] == 0)
                side[where] = i;
        }
    }
}

static void find_extents(void) {
    for (int i = 1; i <= net_count; i++)
        nets[i] = (struct net){columns, -1, 0, 0};
    for (int c = 0; c < columns; c++)
        for (int side = 0; side < 2; side++) {
            struct net *net = &nets[side ? bottom[c] : top[c]];
            if (net == nets)
                continue;
            if (c < net->left)
                net->left = c;
            if (c > net->right)
                net->right = c;
        }
}

/* Where a column has pins of two nets, the upper one's part has to be above the lower one's. */
static void find_order(void) {
    memset(must_be_above, 0, sizeof must_be_above);
    for (int c = 0; c < columns; c++) {
        int a = top[c], b = bottom[c];
        if (a != 0 && b != 0 && a != b && !must_be_above[a][b]) {
            must_be_above[a][b] = 1;
            nets[b].above_count++;
        }
    }
}

/* Fills tracks from above by nets from the left that nothing has to be above of; the number of nets placed. */
static int fill_tracks(void) {
    int placed = 0;
    for (int track = 1; track <= TRACKS && placed < net_count; track++) {
        int end = -1, on_track[MOST], count = 0;
        for (;;) {
            int best = 0;
            for (int i = 1; i <= net_count; i++) {
                const struct net *net = &nets[i];
                if (net->track != 0 || net->above_count > 0 || net->left <= end)
                    continue;
                if (best == 0 || net->left < nets[best].left)
                    best = i;
            }
            if (best == 0)
                break;
            nets[best].track = track;
            end = nets[best].right;
            on_track[count++] = best;
        }
        if (count == 0)
            break;
        placed += count;
        for (int i = 0; i < count; i++)
            for (int j = 1; j <= net_count; j++)
                if (must_be_above[on_track[i]][j])
                    nets[j].above_count--;
    }
    return placed;
}

static void draw(void) {
    memset(grid, 0, sizeof grid);
    for (int i = 1; i <= net_count; i++)
        if (nets[i].track != 0)
            for (int c = nets[i].left; c <= nets[i].right; c++)
                grid[nets[i].track][c] = 1;
}

/* The length of a shortest way through cells, not along another net; by a queue (after Lee). */
static int route(int from_row, int from, int to_row, int to) {
    static const int step[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
    int head = 0, tail = 0;
    memset(distance, 0, sizeof distance);
    distance[from_row][from] = 1;
    queue[tail][0] = (short)from_row;
    queue[tail++][1] = (short)from;
    while (head < tail) {
        int row = queue[head][0], column = queue[head++][1];
        if (row == to_row && column == to)
            return distance[row][column];
        for (int s = 0; s < 4; s++) {
            int r = row + step[s][0], c = column + step[s][1];
            if (r < 0 || r > TRACKS + 1 || c < 0 || c >= columns || distance[r][c] != 0)
                continue;
            if (grid[r][c] && grid[row][column] && s % 2 == 0)
                continue;
            distance[r][c] = (short)(distance[row][column] + 1);
            queue[tail][0] = (short)r;
            queue[tail++][1] = (short)c;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    columns = argc > 1 ? atoi(argv[1]) : 100;
    net_count = argc > 2 ? atoi(argv[2]) : 40;
    int channels = argc > 3 ? atoi(argv[3]) : 10;
    state = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
    if (columns < 2 || columns > MOST || net_count < 1 || net_count >= MOST)
        return 1;
    long placed = 0, length = 0;
    for (int i = 0; i < channels; i++) {
        make_channel();
        find_extents();
        find_order();
        placed += fill_tracks();
        draw();
        for (int j = 1; j <= net_count; j++)
            if (nets[j].right >= 0 && nets[j].track == 0)
                length += route(0, nets[j].left, TRACKS + 1, nets[j].right);
    }
    printf("%ld %ld\n", placed, length);
    return 0;
}
