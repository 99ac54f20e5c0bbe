/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 tells rank 1 that its data are there before it puts them. Mended: it puts, unlocks, and tells it then. */
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
    const int letter = 7;
    int told = 0, seen = 0;
    if (me == 0) {
#ifdef RACY
        MPI_Send(&me, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Put(&letter, 1, MPI_INT, 1, 2, 1, MPI_INT, win); /* RACE: first */
        MPI_Win_unlock(1, win);
#ifndef RACY
        MPI_Send(&me, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
    } else if (me == 1) {
        MPI_Recv(&told, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        seen = box[2]; /* RACE: second */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d %d\n", me, seen, told);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
