/* SPDX-License-Identifier: BSD-3-Clause */
/* A put with a request still reads its buffer. Mended by MPI_Wait. */
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
    MPI_Request request;
    MPI_Win_lock_all(0, win);
    MPI_Rput(&letter, 1, MPI_INT, 1 - me, 1, 1, MPI_INT, win, &request); /* RACE: first */
#ifndef RACY
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    letter = 8; /* RACE: second */
#ifdef RACY
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    MPI_Win_unlock_all(win);
    printf("%d\n", letter);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
