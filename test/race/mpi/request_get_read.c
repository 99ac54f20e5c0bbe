/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a get with a request is read before its completion. Mended by MPI_Wait before. */
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
    int seen = 0, sum = 0;
    MPI_Request request;
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - me, 0, win);
    MPI_Rget(&seen, 1, MPI_INT, 1 - me, 1, 1, MPI_INT, win, &request); /* RACE: first */
#ifndef RACY
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    sum += seen; /* RACE: second */
#ifdef RACY
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    MPI_Win_unlock(1 - me, win);
    printf("%d %d\n", me, sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
