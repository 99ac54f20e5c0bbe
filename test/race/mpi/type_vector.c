/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks put columns of a matrix that have a row in common. Mended: the columns have none. */
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
    const int part[4] = {me, me, me, me};
    MPI_Datatype column;
    MPI_Type_vector(4, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Win_fence(0, win);
    if (me == 0) MPI_Put(part, 4, MPI_INT, 1, 0, 1, column, win); /* RACE: first */
#ifdef RACY
    if (me == 2) MPI_Put(part, 1, MPI_INT, 1, 6, 1, MPI_INT, win); /* RACE: second */
#else
    if (me == 2) MPI_Put(part, 4, MPI_INT, 1, 1, 1, column, win);
#endif
    MPI_Win_fence(0, win);
    MPI_Type_free(&column);
    printf("%d %d\n", me, box[7]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
