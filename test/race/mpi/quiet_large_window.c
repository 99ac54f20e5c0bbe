/* SPDX-License-Identifier: BSD-3-Clause */
/* The program uses a few words of large windows. The detector's records of the rest, which would be four times as large
 * as a window, take no memory, neither when the window is made nor when its memory is freed. */
/* RMA_MPI */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define SIZE ((size_t)64 << 20)

static long resident_most(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_maxrss; /* KiB */
}

static void use(MPI_Win win, int me) {
    MPI_Win_fence(0, win);
    MPI_Put(&me, 1, MPI_INT, 1 - me, SIZE / 2, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(void) {
    int me;
    long before, after;
    char *box;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    before = resident_most();
    MPI_Win_allocate(SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    use(win, me);
    box = malloc(SIZE);
    MPI_Win_create(box, SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    use(win, me);
    free(box);
    after = resident_most();
    printf("%ld KiB, then %ld\n", before, after);
    MPI_Finalize();
    return after - before < (long)(SIZE * 2 / 1024) ? 0 : 1;
}
