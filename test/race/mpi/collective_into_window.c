/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoall writes to the window while another rank may get from it. Mended by a fence before. */
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
    const int source[2] = {1, 2};
    int seen = 0;
    MPI_Win_fence(0, win);
    if (me == 0) MPI_Get(&seen, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* RACE: first */
#ifndef RACY
    MPI_Win_fence(0, win);
#endif
    MPI_Alltoall(source, 1, MPI_INT, box, 1, MPI_INT, MPI_COMM_WORLD); /* RACE: second */
    MPI_Win_fence(0, win);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
