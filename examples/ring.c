/* SPDX-License-Identifier: BSD-3-Clause */
/* ring: a token goes round all PEs, and each adds its number; no PE receives, all data are put.
 *
 *     mpiexec -n 4 ./ring [rounds]
 *
 * Each PE waits for the token by an acquire load of its own word (rma_atomic_fetch on itself), and passes it on
 * by an atomic set, which orders the payload's put before it. */
#include <rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Polls for a while, which is fastest if each PE has a processor, then sleeps between two polls. Without the sleep, two
 * PEs on one processor would delay each other: the polling PE would keep the other from running. */
static void wait_for(const long *turn, long round) {
    for (long looks = 0; rma_atomic_fetch(turn, rma_my_pe()) < round; looks++)
        if (looks > 2000) nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
}

int main(int argc, char **argv) {
    if (rma_init() != RMA_SUCCESS) return 1;
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : rma_n_nodes() > 1 ? 100 : 1000;
    int me = rma_my_pe(), n = rma_n_pes(), next = (me + 1) % n;
    if (rounds < 1) {
        if (me == 0) fprintf(stderr, "ring: rounds '%s' is not a number from 1\n", argv[1]);
        rma_finalize();
        return 2;
    }

    long *turn = rma_calloc(2, sizeof *turn); /* the round that has arrived here, and the sum so far */
    if (!turn) rma_abort(1);
    long *sum = turn + 1;

    double start = rma_wtime();
    for (long round = 1; round <= rounds; round++) {
        if (me != 0) wait_for(turn, round);
        long total = rma_g(sum, me) + me;
        rma_p(sum, total, next);
        rma_atomic_set(turn, round, next);
        if (me == 0) wait_for(turn, round);
    }
    double seconds = rma_wtime() - start;
    rma_barrier_all();

    int failed = 0;
    if (me == 0) {
        long want = rounds * n * (n - 1) / 2;
        failed = *sum != want;
        printf("ring of %d PEs, %ld rounds: sum %ld, expected %ld: %s; %.3f us per hop\n", n, rounds, *sum, want,
               failed ? "WRONG" : "right", seconds * 1e6 / (double)(rounds * n));
    }
    rma_free(turn);
    rma_finalize();
    return failed;
}
