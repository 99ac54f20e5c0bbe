/* SPDX-License-Identifier: BSD-3-Clause */
/* A window has a global variable of the program. Mended: the store comes before the fence. */
#include <mpi.h>
#include <stdio.h>

static int box[8];

int main(void) {
    int me;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_create(box, sizeof box, sizeof *box, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    int seen = 0;
    MPI_Win_fence(0, win);
#ifdef RACY
    if (me == 0) MPI_Get(&seen, 1, MPI_INT, 1, 2, 1, MPI_INT, win); /* RACE: first */
    box[2] = me;                                                    /* RACE: second */
#else
    box[2] = me;
    MPI_Win_fence(0, win);
    if (me == 0) MPI_Get(&seen, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
#endif
    MPI_Win_fence(0, win);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
