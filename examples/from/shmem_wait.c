/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_wait: waiting for words: PE 0 takes the results of the others in the order in which they come. */
#include <rma.h>
#include <stdio.h>

static long result[64], flag[64], over;

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    int taken[64] = {0}, wrong = n > 64;

    if (me < 64) {
        rma_p(&result[me], 100L + me, 0);
        rma_fence();
        rma_p(&flag[me], 1, 0);
    }
    for (int i = 0; me == 0 && i < n && i < 64; i++) {
        /* SHMEM: shmem_long_wait_until_any(flag, n, taken, SHMEM_CMP_NE, 0) */
        size_t pe = rma_wait_until_any(flag, (size_t)n, taken, RMA_CMP_NE, 0);
        taken[pe] = 1;
        wrong |= result[pe] != 100 + (long)pe;
    }
    for (int pe = 0; me == 0 && pe < n; pe++) rma_p(&over, 1, pe);
    /* SHMEM: shmem_long_wait_until(&over, SHMEM_CMP_EQ, 1) */
    rma_wait_until(&over, RMA_CMP_EQ, 1);
    /* SHMEM: shmem_long_test(&over, SHMEM_CMP_EQ, 1) */
    wrong |= !rma_test(&over, RMA_CMP_EQ, 1);
    if (wrong) printf("shmem_wait: PE %d: a wrong result\n", me);
    rma_finalize();
    return wrong;
}
