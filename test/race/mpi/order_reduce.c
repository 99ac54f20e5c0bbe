/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce orders the others before its root, not the root before the others. Mended by MPI_Allreduce. */
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
    int sum = 0, seen = 0;
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Put(&letter, 1, MPI_INT, 1, 2, 1, MPI_INT, win); /* RACE: first */
        MPI_Win_unlock(1, win);
    }
#ifdef RACY
    MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
#else
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
    if (me == 1) seen = box[2]; /* RACE: second */
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d %d\n", me, seen, sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
