/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank reads the memory of its neighbour directly. Mended by a barrier after the store. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    int me, *box;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate_shared(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    int size, unit, seen;
    int *theirs;
    MPI_Aint bytes;
    MPI_Win_shared_query(win, 1 - me, &bytes, &unit, &theirs);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_lock_all(0, win);
    box[1] = me + size; /* RACE: first */
    MPI_Win_sync(win);
#ifndef RACY
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    MPI_Win_sync(win);
    seen = theirs[1]; /* RACE: second */
    MPI_Win_unlock_all(win);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
