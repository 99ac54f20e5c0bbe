/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonblocking receive still writes its buffer, which the rank puts. Mended by MPI_Wait. */
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
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, &request); /* RACE: first */
    MPI_Send(&me, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD);
#ifndef RACY
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    MPI_Win_fence(0, win);
    MPI_Put(&got, 1, MPI_INT, 1 - me, 2, 1, MPI_INT, win); /* RACE: second */
    MPI_Win_fence(0, win);
#ifdef RACY
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    printf("%d %d\n", me, got);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
