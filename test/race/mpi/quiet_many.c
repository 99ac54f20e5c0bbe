/* SPDX-License-Identifier: BSD-3-Clause */
/* More communicators, one after the other, and more tags than the detector has places for: each of them orders a put
 * and a load. */
#include <mpi.h>
#include <stdio.h>

#define COMMUNICATORS 1200
#define TAGS          17000

int main(void) {
    int me, *box, sum = 0;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    *box = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < COMMUNICATORS; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (i % 2 == me) {
            MPI_Put(&i, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, win);
            MPI_Win_flush(1 - me, win);
        }
        MPI_Barrier(comm);
        if (i % 2 != me) sum += *box;
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < TAGS; i++) {
        int token = i;
        if (me == 0) {
            MPI_Put(&i, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
            MPI_Win_flush(1, win);
            MPI_Send(&token, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += *box;
            MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Win_unlock_all(win);
    printf("%d %d\n", me, sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
