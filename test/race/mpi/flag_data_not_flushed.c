/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 fetches a flag until rank 0 has set it, and reads the data that rank 0 has put before. Mended: rank 0 flushes
 * between. */
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
    const int letter = 7, one = 1;
    int flag = 0, seen = 0;
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        MPI_Put(&letter, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* RACE: first */
#ifndef RACY
        MPI_Win_flush(1, win);
#endif
        MPI_Accumulate(&one, 1, MPI_INT, 1, 5, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(1, win);
    } else {
        while (!flag) {
            MPI_Fetch_and_op(NULL, &flag, MPI_INT, 1, 5, MPI_NO_OP, win);
            MPI_Win_flush(1, win);
        }
        seen = box[0]; /* RACE: second */
    }
    MPI_Win_unlock_all(win);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
