/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters under locks of all kinds, requests, and messages that are received in another order than they were sent. */
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
    int n, old, words[4] = {0}, tokens[6] = {0};
    const int one = 1, zero = 0;
    MPI_Request requests[6];
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int round = 0; round < 10; round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(words, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        words[0]++;
        MPI_Put(words, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
        MPI_Win_lock_all(0, win);
        do { /* a spin lock of the program */
            MPI_Compare_and_swap(&one, &zero, &old, MPI_INT, 0, 2, win);
            MPI_Win_flush(0, win);
        } while (old);
        MPI_Get(words, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        words[0]++;
        MPI_Put(words, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        MPI_Accumulate(&zero, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < 3; k++) {
        const int after = (me + 1) % n, before = (me + n - 1) % n;
        MPI_Irecv(&tokens[2 * k], 1, MPI_INT, before, k / 2, MPI_COMM_WORLD, &requests[k]);
        MPI_Isend(&tokens[2 * k + 1], 1, MPI_INT, after, k / 2, MPI_COMM_WORLD, &requests[3 + k]);
    }
    for (int left = 6, i; left > 0; left--) MPI_Waitany(6, requests, &i, MPI_STATUS_IGNORE);
    if (me == 0) printf("%d %d\n", box[1], box[3]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
