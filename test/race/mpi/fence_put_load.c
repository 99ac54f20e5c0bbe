/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 puts into the window of rank 1, which reads it in the same epoch. Mended by a fence between. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    int me, *box;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    for (int i = 0; i < 8; i++) box[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const int letter = 7;
    int seen = 0;
    MPI_Win_fence(0, win);
    if (me == 0) MPI_Put(&letter, 1, MPI_INT, 1, 2, 1, MPI_INT, win); /* RACE: first */
#ifndef RACY
    MPI_Win_fence(0, win);
#endif
    if (me == 1) seen = box[2]; /* RACE: second */
    MPI_Win_fence(0, win);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
