/* SPDX-License-Identifier: BSD-3-Clause */
/* The target stores after it has posted. Mended: before. */
/* SAYS: MPI_Win_complete by rank 0, and MPI_Win_wait by rank 1 before it writes */
/* SAYS: MPI_Win_post by rank 1 after its access, and MPI_Win_start by rank 0 for this post */
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
    const int other = 1 - me;
    int seen = 0;
    MPI_Group all, one;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &one);
    if (me == 0) {
        MPI_Win_start(one, 0, win);
        MPI_Get(&seen, 1, MPI_INT, 1, 1, 1, MPI_INT, win); /* RACE: first */
        MPI_Win_complete(win);
    } else {
#ifdef RACY
        MPI_Win_post(one, 0, win);
#endif
        box[1] = 5; /* RACE: second */
#ifndef RACY
        MPI_Win_post(one, 0, win);
#endif
        MPI_Win_wait(win);
    }
    MPI_Group_free(&one);
    MPI_Group_free(&all);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
