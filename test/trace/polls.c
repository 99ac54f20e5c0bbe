/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 polls: first a word of rank 0, then one of its own memory, which rank 0 changes after it has computed. With
 * the argument "once" each poll happens once, without it 5 times. */
#include <mpi.h>
#include <stdio.h>

static void compute(double ms) {
    const double end = MPI_Wtime() + ms / 1e3;
    while (MPI_Wtime() < end) continue;
}

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? 1 : 5;
    volatile long *words;
    int me;
    MPI_Win other, win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(2 * sizeof *words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &words, &other);
    MPI_Win_allocate(2 * sizeof *words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &words, &win);
    words[0] = words[1] = 0;
    MPI_Win_lock_all(0, other);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long round = 1; round <= rounds; round++) {
        if (me == 0) {
            compute(20);
            MPI_Accumulate(&round, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_REPLACE, win);
            MPI_Win_flush(0, win);
            compute(20);
            MPI_Accumulate(&round, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_REPLACE, win);
            MPI_Win_flush(1, win);
        } else if (me == 1) {
            long seen = 0;
            while (seen < round) {
                MPI_Fetch_and_op(NULL, &seen, MPI_LONG, 0, 1, MPI_NO_OP, win); /* TRACE: fetch */
                MPI_Win_flush(0, win);
            }
            while (words[0] < round) MPI_Win_flush(1, win); /* TRACE: flush */
        } else {
            const long one = 1; /* the same displacement of another window ends no wait */
            MPI_Accumulate(&one, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, other);
            MPI_Win_flush(0, other);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Win_unlock_all(other);
    MPI_Win_free(&win);
    MPI_Win_free(&other);
    MPI_Finalize();
    return 0;
}
