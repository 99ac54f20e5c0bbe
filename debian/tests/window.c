/* SPDX-License-Identifier: BSD-3-Clause */
/* window: process 0 collects one number from each process, by a window of MPI. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    long *squares, sum = 0;
    int me, n;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Win_allocate((MPI_Aint)sizeof *squares * n, sizeof *squares, MPI_INFO_NULL, MPI_COMM_WORLD, &squares, &win);
    MPI_Win_fence(0, win);
    long square = (long)me * me;
    MPI_Put(&square, 1, MPI_LONG, 0, me, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    for (int i = 0; me == 0 && i < n; i++) sum += squares[i];
    if (me == 0) printf("process 0 was given squares that sum to %ld\n", sum);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
