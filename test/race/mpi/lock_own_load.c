/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank reads its own window while another one puts into it with an exclusive lock. Mended: the reader takes the
 * lock, too. */
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
    int seen = 0;
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&me, 1, MPI_INT, 1, 4, 1, MPI_INT, win); /* RACE: first */
        MPI_Win_unlock(1, win);
    } else {
#ifndef RACY
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
#endif
        seen = box[4]; /* RACE: second */
#ifndef RACY
        MPI_Win_unlock(1, win);
#endif
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
