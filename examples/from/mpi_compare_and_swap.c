/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_compare_and_swap: compare-and-swap: each PE takes a free place of a table on PE 0. */
#include <rma.h>
#include <stdio.h>

static long owner[64]; /* PE 0's: 0 is free */

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    const long mine = me + 1, free_place = 0;
    int place = 0, wrong = 0;

    for (;; place = (place + 1) % 64) {
        /* MPI: MPI_Compare_and_swap(&mine, &free_place, &found, MPI_LONG, 0, place, win), MPI_Win_flush(0, win) */
        long found = rma_atomic_compare_swap(&owner[place], free_place, mine, 0);
        if (found == free_place) break;
    }
    rma_barrier_all();

    for (int i = 0; i < 64 && me == 0; i++) wrong |= (owner[i] != 0) != (i < n);
    wrong |= rma_g(&owner[place], 0) != mine;
    if (wrong) printf("mpi_compare_and_swap: PE %d: place %d is of %ld\n", me, place, rma_g(&owner[place], 0));
    rma_finalize();
    return wrong;
}
