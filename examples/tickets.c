/* SPDX-License-Identifier: BSD-3-Clause */
/* tickets: work that cannot be divided among the PEs beforehand, since its pieces take very different times. Each PE
 * draws a ticket, does that piece, draws the next one.
 *
 *     mpiexec -n 4 ./tickets [pieces]
 *
 * The tickets are a counter on PE 0: fetch_inc gives each number to one PE, and no PE waits for another. A piece counts
 * the steps of some Collatz sequences. Its result goes by a put with a signal to the PE that keeps it. So that PE knows
 * without a barrier when it has all its results. In the end PE 0 has the sum of all results, and compares it with a sum
 * that it computes alone. */
#include <rma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Symmetric, as all global variables are. */
static long tickets;   /* PE 0's: the next piece */
static long sum;       /* PE 0's: the sum of all results */
static uint64_t added; /* PE 0's: how many PEs have added their results */
static long done;      /* each PE's: pieces that it has done */
static uint64_t kept;  /* each PE's signal: results that have arrived there */

/* Some pieces are a hundred times longer than others. */
static long work(long piece) {
    long steps = 0, starts = piece % 10 ? 20 : 2000;
    for (long start = piece * 7 + 1; start <= piece * 7 + starts; start++)
        for (long x = start; x != 1; steps++) x = x % 2 ? 3 * x + 1 : x / 2;
    return steps;
}

static int run(long pieces) {
    int me = rma_my_pe(), n = rma_n_pes();
    long keep = (pieces + n - 1) / n; /* results for each PE to keep; for the last ones it may be fewer */
    long *results = rma_calloc((size_t)keep, sizeof *results);
    if (!results) rma_abort(1);

    double start = rma_wtime();
    for (long piece; (piece = rma_atomic_fetch_inc(&tickets, 0)) < pieces; done++) {
        long result = work(piece);
        int keeper = (int)(piece / keep);
        rma_put_signal(&results[piece % keep], &result, sizeof result, &kept, 1, RMA_SIGNAL_ADD, keeper);
    }

    /* Wait for all results that this PE keeps, whichever PEs have computed them. */
    long mine = pieces - me * keep < keep ? pieces - me * keep : keep, part = 0;
    if (mine < 0) mine = 0;
    rma_signal_wait_until(&kept, RMA_CMP_EQ, (uint64_t)mine);
    for (long i = 0; i < mine; i++) part += results[i];
    rma_atomic_add(&sum, part, 0);
    rma_atomic_inc(&added, 0); /* after the sum: an atomic orders what comes before it */
    int failed = 0;
    if (me == 0) {
        rma_wait_until(&added, RMA_CMP_EQ, (uint64_t)n);
        double seconds = rma_wtime() - start;
        long want = 0;
        for (long piece = 0; piece < pieces; piece++) want += work(piece);
        failed = sum != want;
        printf("%ld pieces by %d PEs: sum %ld, expected %ld: %s; %.3f s\n", pieces, n, sum, want,
               failed ? "WRONG" : "right", seconds);
        printf("pieces by PE:");
        for (int pe = 0; pe < n; pe++) printf(" %ld", rma_g(&done, pe));
        printf("\n");
    }
    rma_free(results); /* waits for all PEs */
    return failed;
}

int main(int argc, char **argv) {
    if (rma_init() != RMA_SUCCESS) return 1;
    long pieces = 2000;
    char more;
    bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    bool wrong = !help && (argc > 2 || (argc == 2 && (sscanf(argv[1], "%ld%c", &pieces, &more) != 1 || pieces < 1)));
    int code = wrong ? 2 : 0;
    if (help || wrong) {
        if (rma_my_pe() == 0) fprintf(wrong ? stderr : stdout, "usage: tickets [pieces of work, at least 1; 2000]\n");
    } else {
        code = run(pieces);
    }
    rma_finalize();
    return code;
}
