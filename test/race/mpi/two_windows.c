/* SPDX-License-Identifier: BSD-3-Clause */
/* Two windows have the same memory. A put into one races with a get from the other. Mended by a fence. */
/* PES: 3 */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    int me, *box;
    MPI_Win win, other;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    for (int i = 0; i < 8; i++) box[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    int seen = 0;
    MPI_Win_create(&box[2], 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &other);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, other);
    if (me == 0) MPI_Put(&me, 1, MPI_INT, 1, 3, 1, MPI_INT, win); /* RACE: first */
#ifndef RACY
    MPI_Win_fence(0, win);
#endif
    if (me == 2) MPI_Get(&seen, 1, MPI_INT, 1, 1, 1, MPI_INT, other); /* RACE: second */
    MPI_Win_fence(0, other);
    MPI_Win_fence(0, win);
    MPI_Win_free(&other);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
