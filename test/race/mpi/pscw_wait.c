/* SPDX-License-Identifier: BSD-3-Clause */
/* The target of an exposure epoch reads before it has waited for the end of the epoch. Mended: after it. */
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
    const int letter = 7, other = 1 - me;
    int seen = 0;
    MPI_Group all, one;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &one);
    if (me == 0) {
        MPI_Win_start(one, 0, win);
        MPI_Put(&letter, 1, MPI_INT, 1, 1, 1, MPI_INT, win); /* RACE: first */
        MPI_Win_complete(win);
    } else {
        MPI_Win_post(one, 0, win);
#ifndef RACY
        MPI_Win_wait(win);
#endif
        seen = box[1]; /* RACE: second */
#ifdef RACY
        MPI_Win_wait(win);
#endif
    }
    MPI_Group_free(&one);
    MPI_Group_free(&all);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
