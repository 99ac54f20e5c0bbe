/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks accumulate an element as different types. Mended: as the same type. */
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
    const float one = 1;
    const int also_one = 1;
    MPI_Win_fence(0, win);
    if (me == 0) MPI_Accumulate(&one, 1, MPI_FLOAT, 1, 1, 1, MPI_FLOAT, MPI_SUM, win); /* RACE: first */
#ifdef RACY
    if (me == 2) MPI_Accumulate(&also_one, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_SUM, win); /* RACE: second */
#else
    if (me == 2) MPI_Accumulate(&one, 1, MPI_FLOAT, 1, 1, 1, MPI_FLOAT, MPI_SUM, win);
#endif
    MPI_Win_fence(0, win);
    printf("%d %d\n", box[1], also_one);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
