/* SPDX-License-Identifier: BSD-3-Clause */
/* A function puts from its own variable and returns before the epoch ends. Mended: the function flushes. */
#include <mpi.h>
#include <stdio.h>

static void __attribute__((noinline)) send(int rank, MPI_Win win) {
    int pair[2] = {rank, 5};
    MPI_Put(pair, 2, MPI_INT, rank, 0, 2, MPI_INT, win); /* RACE: first */
#ifndef RACY
    MPI_Win_flush_local(rank, win);
#endif
}

int main(void) {
    int me, *box;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    for (int i = 0; i < 8; i++) box[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    send(1 - me, win);
    MPI_Win_flush_all(win); /* RACE: second */
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d\n", box[1]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
