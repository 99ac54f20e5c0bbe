/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 puts to ranks 1 and 2 and flushes rank 2 only, before both read what it has put. Mended by
 * MPI_Win_flush_all. */
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
    MPI_Win_lock_all(0, win);
    for (int to = 1; me == 0 && to < 3; to++) MPI_Put(&letter, 1, MPI_INT, to, 0, 1, MPI_INT, win); /* RACE: first */
#ifdef RACY
    if (me == 0) MPI_Win_flush(2, win);
#else
    if (me == 0) MPI_Win_flush_all(win);
#endif
    MPI_Barrier(MPI_COMM_WORLD);
    if (me > 0) seen = box[0]; /* RACE: second */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
