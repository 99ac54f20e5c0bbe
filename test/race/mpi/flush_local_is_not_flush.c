/* SPDX-License-Identifier: BSD-3-Clause */
/* A local flush frees the buffer of a put, but the data may not have arrived when the same rank gets them. Mended by a
 * flush. */
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
    int letter = 7, back = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - me, 0, win);
    MPI_Put(&letter, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, win); /* RACE: first */
#ifdef RACY
    MPI_Win_flush_local(1 - me, win);
#else
    MPI_Win_flush(1 - me, win);
#endif
    letter = 8;
    MPI_Get(&back, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, win); /* RACE: second */
    MPI_Win_unlock(1 - me, win);
    printf("%d %d\n", letter, back);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
