/* SPDX-License-Identifier: BSD-3-Clause */
/* Two gets write the same buffer. Mended: one after the other. */
/* RMA_MPI */
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
    int seen;
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - me, 0, win);
    MPI_Get(&seen, 1, MPI_INT, 1 - me, 1, 1, MPI_INT, win); /* RACE: first */
#ifndef RACY
    MPI_Win_flush_local(1 - me, win);
#endif
    MPI_Get(&seen, 1, MPI_INT, 1 - me, 2, 1, MPI_INT, win); /* RACE: second */
    MPI_Win_unlock(1 - me, win);
    printf("%d\n", seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
