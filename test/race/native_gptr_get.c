/* SPDX-License-Identifier: BSD-3-Clause */
/* A get by global pointer from PE 1's local heap while PE 1 fills the block with memset. Mended by a barrier. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>
#include <string.h>

static rma_gptr_t where;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    char *block = NULL, copy[8] = {0};
    if (rma_alloc_mem(256, &block)) rma_abort(1);
    where = rma_gptr(block, me);
    rma_barrier_all();
    if (me == 1) memset(block, 'x', 256); /* RACE: first */
#ifndef RACY
    rma_barrier_all();
#endif
    if (me == 0) {
        rma_gptr_get(copy, rma_g(&where, 1) + 100, sizeof copy); /* RACE: second */
        printf("%d\n", copy[0]);
    }
    rma_barrier_all();
    rma_free_mem(block);
    rma_finalize();
    return 0;
}
