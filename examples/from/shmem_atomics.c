/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_atomics: atomics, and a lock. */
#include <rma.h>
#include <stdio.h>

static long counter, largest, word = 7;
static unsigned long bits;
static rma_lock_t lock; /* SHMEM: static long lock */

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    long later = -1, mine = 0;

    /* SHMEM: shmem_long_atomic_inc(&counter, 0) */
    rma_atomic_inc(&counter, 0);
    /* SHMEM: shmem_long_atomic_fetch_add(&counter, 2, 0) */
    long old = rma_atomic_fetch_add(&counter, 2, 0);
    /* SHMEM: shmem_long_atomic_fetch_nbi(&later, &counter, 0) */
    rma_atomic_fetch_nbi(&later, &counter, 0);
    /* SHMEM: shmem_ulong_atomic_or(&bits, 1UL << me, 0) */
    rma_atomic_or(&bits, 1UL << me, 0);
    /* SHMEM: shmem_long_atomic_compare_swap(&word, 7, 8, 0) */
    long was = rma_atomic_compare_swap(&word, 7, 8, 0);
    rma_atomic_max(&largest, (long)me, 0); /* OpenSHMEM has no maximum */
    /* SHMEM: shmem_set_lock(&lock) */
    rma_set_lock(&lock);
    mine = rma_g(&counter, 0);
    /* SHMEM: shmem_clear_lock(&lock) */
    rma_clear_lock(&lock);
    rma_barrier_all();

    int wrong = old < 1 || later < 3 || (was != 7 && was != 8) || mine < 3;
    if (me == 0) wrong |= counter != 3L * n || bits != (2UL << (n - 1)) - 1 || word != 8 || largest != n - 1;
    if (wrong) printf("shmem_atomics: PE %d: counter %ld, bits %lx\n", me, counter, bits);
    rma_finalize();
    return wrong;
}
