/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonblocking barrier orders when it is complete. Mended: the rank waits for it before it reads. */
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
    int seen = 0;
    MPI_Request request;
    if (me == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* RACE: first */
        MPI_Win_unlock(0, win);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
#ifdef RACY
    if (me == 0) seen = box[0]; /* RACE: second */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (me == 0) seen = box[0];
#endif
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
