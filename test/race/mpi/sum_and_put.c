/* SPDX-License-Identifier: BSD-3-Clause */
/* An accumulate and a put meet in an element. Mended: both are accumulates. */
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
    int old = 0;
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    if (me == 0) MPI_Fetch_and_op(&one, &old, MPI_INT, 1, 1, MPI_REPLACE, win); /* RACE: first */
#ifdef RACY
    if (me == 2) MPI_Put(&one, 1, MPI_INT, 1, 1, 1, MPI_INT, win); /* RACE: second */
#else
    if (me == 2) MPI_Accumulate(&one, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_REPLACE, win);
#endif
    MPI_Win_unlock(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d\n", box[1], old);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
