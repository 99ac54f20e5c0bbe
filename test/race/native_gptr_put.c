/* SPDX-License-Identifier: BSD-3-Clause */
/* A put by global pointer to a block of PE 1's local heap, which PE 1 reads. Mended by a barrier. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static rma_gptr_t where;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    int *block = NULL;
    const int value = 8;
    if (rma_alloc_mem(64, &block)) rma_abort(1);
    block[3] = 0;
    where = rma_gptr(block, me);
    rma_barrier_all();
    if (me == 0) rma_gptr_put(rma_g(&where, 1) + 3 * sizeof(int), &value, sizeof value); /* RACE: first */
#ifndef RACY
    rma_barrier_all();
#endif
    if (me == 1) printf("%d\n", block[3]); /* RACE: second */
    rma_barrier_all();
    rma_free_mem(block);
    rma_finalize();
    return 0;
}
