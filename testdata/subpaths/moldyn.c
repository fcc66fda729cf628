/* Molecular dynamics: Lennard-Jones forces between particles in a periodic box, velocity Verlet. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 6, N = SIDE * SIDE * SIDE };
static double x[N][3], v[N][3], f[N][3];
static const double box = SIDE * 1.7, cutoff = 2.5, dt = 0.002;

static double nearest(double d) {
    if (d > box / 2)
        d -= box;
    else if (d < -box / 2)
        d += box;
    return d;
}

static double forces(void) {
    double energy = 0;
    for (int i = 0; i < N; i++)
        f[i][0] = f[i][1] = f[i][2] = 0;
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++) {
            double d[3], r2 = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = nearest(x[i][k] - x[j][k]);
                r2 += d[k] * d[k];
            }
            if (r2 >= cutoff * cutoff)
                continue;
            double s = 1 / (r2 * r2 * r2), force = 24 * s * (2 * s - 1) / r2;
            energy += 4 * s * (s - 1);
            for (int k = 0; k < 3; k++) {
                f[i][k] += force * d[k];
                f[j][k] -= force * d[k];
            }
        }
    return energy;
}

static void step(void) {
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) {
            v[i][k] += f[i][k] * dt / 2;
            x[i][k] += v[i][k] * dt;
            if (x[i][k] < 0)
                x[i][k] += box;
            else if (x[i][k] >= box)
                x[i][k] -= box;
        }
    forces();
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++)
            v[i][k] += f[i][k] * dt / 2;
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 300;
    for (int i = 0; i < N; i++) {
        int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int k = 0; k < 3; k++) {
            x[i][k] = at[k] * 1.7;
            v[i][k] = (i * 7 + k * 13) % 11 / 11.0 - 0.45;
        }
    }
    double before = forces();
    for (int i = 0; i < steps; i++)
        step();
    printf("%d particles, %d steps: %s\n", N, steps, isfinite(forces() + before) ? "done" : "lost");
    return 0;
}
