/* SPDX-License-Identifier: BSD-3-Clause */
/* An access past the end of a window of MPI. */
#include <mpi.h>

static volatile int after;

static void __attribute__((noinline)) exchange(MPI_Win win) {
    const int one = 1;
    MPI_Put(&one, 1, MPI_INT, 0, 100, 1, MPI_INT, win); /* LINES: window */
    after++;
}

int main(int argc, char **argv) {
    MPI_Win win;
    int *base;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(10 * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    exchange(win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return after == -1;
}
