/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 puts to rank 1 and meets rank 2 only. Mended by a barrier of all. */
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
    const int letter = 7;
    int seen = 0;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, me == 1, 0, &half);
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Put(&letter, 1, MPI_INT, 1, 2, 1, MPI_INT, win); /* RACE: first */
        MPI_Win_unlock(1, win);
    }
#ifdef RACY
    MPI_Barrier(half);
#else
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    if (me == 1) seen = box[2]; /* RACE: second */
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d\n", me, seen);
    MPI_Comm_free(&half);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
