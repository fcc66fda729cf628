// OpenMP: fractals with symmetric halves, primes, and a relaxation by rows. OMP_NUM_THREADS of them. The work and what is
// printed do not depend on their number.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 640, MOST = 400 };
static int32_t grid[2][SIDE][SIDE];

static int escape(double re, double im) {
    double x = 0, y = 0;
    int n = 0;
    while (n < MOST && x * x + y * y < 4) {
        double next = x * x - y * y + re;
        y = 2 * x * y + im;
        x = next;
        n++;
    }
    return n;
}

static int is_prime(unsigned n) {
    if (n < 2 || (n % 2 == 0 && n != 2))
        return 0;
    for (unsigned d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return 0;
    return 1;
}

static int32_t relaxed(int from, int row, int column) {
    int32_t sum = 0, count = 0;
    for (int r = row - 1; r <= row + 1; r++) {
        for (int c = column - 1; c <= column + 1; c++) {
            if (r < 0 || c < 0 || r >= SIDE || c >= SIDE)
                continue;
            int32_t near = grid[from][r][c];
            if (near > MOST / 2 && (r + c) % 2)
                near -= 3;
            sum += near;
            count++;
        }
    }
    return sum / count;
}

int main(int argc, char **argv) {
    int times = argc > 1 ? atoi(argv[1]) : 4;
    long primes = 0, sum = 0;
    for (int time = 0; time < times; time++) {
#pragma omp parallel for schedule(static, 4)
        for (int row = 0; row < SIDE; row++)
            for (int column = 0; column < SIDE; column++)
                grid[0][row][column] = escape(column * 3.0 / SIDE - 2.2, row * 2.4 / SIDE - 1.2);
#pragma omp parallel for schedule(static) reduction(+ : primes)
        for (unsigned n = 0; n < 600000; n++)
            primes += is_prime(n);
        for (int round = 0; round < 10; round++) {
#pragma omp parallel for schedule(static)
            for (int row = 0; row < SIDE; row++)
                for (int column = 0; column < SIDE; column++)
                    grid[(round + 1) % 2][row][column] = relaxed(round % 2, row, column);
        }
#pragma omp parallel for reduction(+ : sum)
        for (int row = 0; row < SIDE; row++)
            for (int column = 0; column < SIDE; column++)
                sum += grid[0][row][column];
    }
    printf("%ld %ld\n", primes, sum);
    return 0;
}
