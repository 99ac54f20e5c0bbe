/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 swaps a word of rank 1, which stores to it at the same time. Mended: rank 1 accumulates, too. */
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
    const int one = 1, zero = 0, two = 2;
    int old = 0;
    MPI_Win_lock_all(0, win);
    if (me == 0) MPI_Compare_and_swap(&one, &zero, &old, MPI_INT, 1, 3, win); /* RACE: first */
#ifdef RACY
    if (me == 1) box[3] = two; /* RACE: second */
#else
    if (me == 1) MPI_Fetch_and_op(&two, &old, MPI_INT, 1, 3, MPI_REPLACE, win);
#endif
    MPI_Win_unlock_all(win);
    printf("%d %d\n", me, two);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
