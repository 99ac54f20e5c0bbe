/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks put the same element of a third one in one epoch. Mended: in two epochs. */
/* PES: 3 */
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
    MPI_Win_fence(0, win);
    if (me == 0) MPI_Put(&me, 1, MPI_INT, 1, 3, 1, MPI_INT, win); /* RACE: first */
#ifndef RACY
    MPI_Win_fence(0, win);
#endif
    if (me == 2) MPI_Put(&me, 1, MPI_INT, 1, 3, 1, MPI_INT, win); /* RACE: second */
    MPI_Win_fence(0, win);
    printf("%d %d\n", me, box[3]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
