/* SPDX-License-Identifier: BSD-3-Clause */
/* A put is complete, but its target does not know that. Mended by a message. */
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
    int token = 0, seen = 0;
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        MPI_Put(&letter, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* RACE: first */
        MPI_Win_flush(1, win);
        MPI_Send(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else {
#ifndef RACY
        MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
        seen = box[0]; /* RACE: second */
#ifdef RACY
        MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    }
    MPI_Win_unlock_all(win);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
