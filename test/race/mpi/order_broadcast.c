/* SPDX-License-Identifier: BSD-3-Clause */
/* A broadcast orders its root before the others, not the others before the root. Mended by MPI_Allreduce. */
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
    int token = 1, sum = 0, seen = 0;
    if (me == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(&token, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* RACE: first */
        MPI_Win_unlock(0, win);
    }
#ifdef RACY
    MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD);
#else
    MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
    if (me == 0) seen = box[0]; /* RACE: second */
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d %d\n", me, seen, sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
