/* SPDX-License-Identifier: BSD-3-Clause */
/* A function of the C library reads what a get has not delivered yet. Mended by a flush. */
#include <mpi.h>
#include <string.h>
#include <stdio.h>

int main(void) {
    int me, *box;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    for (int i = 0; i < 8; i++) box[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    long seen[4] = {0}, copy[4];
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - me, 0, win);
    MPI_Get(seen, 8, MPI_INT, 1 - me, 0, 8, MPI_INT, win); /* RACE: first */
#ifndef RACY
    MPI_Win_flush(1 - me, win);
#endif
    memcpy(copy, seen, sizeof copy); /* RACE: second */
    MPI_Win_unlock(1 - me, win);
    printf("%ld\n", copy[1]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
