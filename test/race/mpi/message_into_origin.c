/* SPDX-License-Identifier: BSD-3-Clause */
/* A message arrives in the buffer that a put still reads. Mended by a local flush before the receive. */
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
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        MPI_Put(&letter, 1, MPI_INT, 1, 2, 1, MPI_INT, win); /* RACE: first */
#ifndef RACY
        MPI_Win_flush_local(1, win);
#endif
        MPI_Recv(&letter, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* RACE: second */
    } else if (me == 1) {
        MPI_Send(&me, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    printf("%d %d\n", me, letter);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
