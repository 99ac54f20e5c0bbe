/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank changes the buffer of its put before the epoch ends. Mended: after the fence. */
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
    int letter = 7;
    MPI_Win_fence(0, win);
    MPI_Put(&letter, 1, MPI_INT, 1 - me, 2, 1, MPI_INT, win); /* RACE: first */
#ifndef RACY
    MPI_Win_fence(0, win);
#endif
    letter = 8; /* RACE: second */
    MPI_Win_fence(0, win);
    printf("%d %d\n", letter, box[2]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
