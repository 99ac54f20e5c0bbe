/* SPDX-License-Identifier: BSD-3-Clause */
/* A put of single elements and a get of two, one of which is the same. Mended by another index. */
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
    int seen[2] = {0};
#ifdef RACY
    const int places[2] = {1, 4};
#else
    const int places[2] = {1, 5};
#endif
    MPI_Datatype apart;
    MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    MPI_Win_fence(0, win);
    if (me == 0) MPI_Put(source, 2, MPI_INT, 1, 0, 1, apart, win); /* RACE: first */
    if (me == 1) MPI_Get(seen, 2, MPI_INT, 1, 3, 2, MPI_INT, win); /* RACE: second */
    MPI_Win_fence(0, win);
    printf("%d %d\n", me, seen[0] + seen[1]);
    MPI_Type_free(&apart);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
