/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank sends from its window what another rank puts there meanwhile. Mended: after a fence. */
/* PES: 3 */
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
    int got = 0;
    MPI_Win_fence(0, win);
    if (me == 0) MPI_Put(&me, 1, MPI_INT, 1, 2, 1, MPI_INT, win); /* RACE: first */
#ifndef RACY
    MPI_Win_fence(0, win);
#endif
    if (me == 1) MPI_Send(&box[2], 1, MPI_INT, 2, 0, MPI_COMM_WORLD); /* RACE: second */
    if (me == 2) MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    printf("%d %d\n", me, got);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
