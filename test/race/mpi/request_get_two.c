/* SPDX-License-Identifier: BSD-3-Clause */
/* Two gets with requests: only the first one has been waited for when both results are read. Mended by MPI_Waitall. */
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
    int seen[16] = {0};
    MPI_Request requests[2];
    MPI_Win_lock_all(0, win);
    MPI_Rget(&seen[0], 1, MPI_INT, 1 - me, 1, 1, MPI_INT, win, &requests[0]);
    MPI_Rget(&seen[8], 1, MPI_INT, 1 - me, 2, 1, MPI_INT, win, &requests[1]); /* RACE: first */
#ifdef RACY
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
#else
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#endif
    const int sum = seen[0] + seen[8]; /* RACE: second */
#ifdef RACY
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
#endif
    MPI_Win_unlock_all(win);
    printf("%d\n", sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
