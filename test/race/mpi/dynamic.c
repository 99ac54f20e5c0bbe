/* SPDX-License-Identifier: BSD-3-Clause */
/* A put into attached memory races with its owner. Mended by a barrier after the flush. */
/* RMA_MPI */
#include <mpi.h>
#include <stdlib.h>
#include <stdio.h>

int main(void) {
    int me, *box;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    box = calloc(8, sizeof *box);
    if (!box) return 1;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    int seen = 0;
    MPI_Aint addresses[2];
    MPI_Win_attach(win, box, 8 * sizeof *box);
    MPI_Get_address(box, &addresses[me]);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, addresses, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (me == 0) MPI_Put(&me, 1, MPI_INT, 1, addresses[1], 1, MPI_INT, win); /* RACE: first */
    MPI_Win_flush_all(win);
#ifndef RACY
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    if (me == 1) seen = box[0]; /* RACE: second */
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, box);
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    free(box);
    MPI_Finalize();
    return 0;
}
