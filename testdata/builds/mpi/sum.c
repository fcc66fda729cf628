// Ranks that share work: each takes another path as often as the others do.
#include <mpi.h>
#include <stdio.h>

__attribute__((noinline)) static long work(int rank, int i) {
    if (i % 3 == rank)
        return i;
    return i % 2 ? 1 : 2;
}

int main(int argc, char **argv) {
    int rank, size;
    long sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 999; i++)
        sum += work(rank, i);
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks: %ld\n", size, all);
    return MPI_Finalize();
}
