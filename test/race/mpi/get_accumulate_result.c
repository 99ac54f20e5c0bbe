/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a get_accumulate is read before it is complete. Mended by a flush. */
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
    const int one = 1;
    int old = 0, seen = 0;
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        MPI_Get_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win); /* RACE: first */
#ifndef RACY
        MPI_Win_flush_local(1, win);
#endif
        seen = old; /* RACE: second */
    }
    MPI_Win_unlock_all(win);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
