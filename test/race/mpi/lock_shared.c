/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks put the same element with a shared lock. Mended: the lock is exclusive. */
/* SAYS: is to be first: MPI_Win_flush by rank */
/* SAYS: then MPI_Barrier or a message that rank */
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
#ifdef RACY
    const int lock = MPI_LOCK_SHARED;
#else
    const int lock = MPI_LOCK_EXCLUSIVE;
#endif
    if (me != 1) {
        MPI_Win_lock(lock, 1, 0, win);
        MPI_Put(&me, 1, MPI_INT, 1, 4, 1, MPI_INT, win); /* RACE: first */ /* RACE: second */
        MPI_Win_unlock(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d\n", me, box[4]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
