/* SPDX-License-Identifier: BSD-3-Clause */
/* caf_critical: critical sections, locks and atomic subroutines. */
#include <rma.h>
#include <stdio.h>

static rma_lock_t lock; /* Fortran: type(lock_type), save :: lock[*] */
static long sum, count;

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    long old = 0;

    rma_sync_all(); /* all begin at once */
    for (int i = 0; i < 1000; i++) {
        /* Fortran: critical */
        rma_set_lock(&lock);
        rma_p(&sum, rma_g(&sum, 0) + 1, 0);
        /* Fortran: end critical */
        rma_clear_lock(&lock);
    }
    /* Fortran: call atomic_fetch_add(count[1], 1, old) */
    old = rma_atomic_fetch_add(&count, 1, 0);
    rma_barrier_all();

    const int wrong = old < 0 || old >= n || (me == 0 && (sum != 1000 * n || count != n));
    if (wrong) printf("caf_critical: PE %d: sum %ld, count %ld\n", me, sum, count);
    rma_finalize();
    return wrong;
}
