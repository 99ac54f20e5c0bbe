/* SPDX-License-Identifier: BSD-3-Clause */
/* A token goes around by fences, posts and messages in turn, and each rank changes what the last one has put. */
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
    int n, value = 0;
    MPI_Group all, left, right;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    const int before = (me + n - 1) % n, after = (me + 1) % n;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &before, &left);
    MPI_Group_incl(all, 1, &after, &right);
    for (int round = 0; round < 20; round++) {
        box[0] = round;
        MPI_Win_post(left, 0, win);
        MPI_Win_start(right, 0, win);
        MPI_Put(&round, 1, MPI_INT, after, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        value += box[0];
        MPI_Win_fence(0, win);
        MPI_Put(&value, 1, MPI_INT, after, 1, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        value = box[1] + box[0];
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, after, 0, win);
        MPI_Put(&value, 1, MPI_INT, after, 1, 1, MPI_INT, win);
        MPI_Win_unlock(after, win);
        MPI_Sendrecv_replace(&value, 1, MPI_INT, after, 1, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value = box[1];
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&left);
    MPI_Group_free(&right);
    MPI_Group_free(&all);
    printf("%d\n", value);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
