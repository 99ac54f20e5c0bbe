/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 hands a block of PE 1's local heap back by an atomic, and puts to it once more behind that. Mended: the
 * atomic is the last. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static rma_gptr_t block_of_1;
static int returned;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    long *block = NULL;
    const long value = 3;
    if (me == 1 && rma_alloc_mem(4096, &block)) rma_abort(1);
    if (me == 1) block_of_1 = rma_gptr(block, 1);
    rma_barrier_all();
    if (me == 0) {
        const rma_gptr_t there = rma_g(&block_of_1, 1);
#ifdef RACY
        rma_atomic_set(&returned, 1, 1);
        rma_gptr_put(there, &value, sizeof value); /* RACE: first */
#else
        rma_gptr_put(there, &value, sizeof value);
        rma_atomic_set(&returned, 1, 1);
#endif
    } else {
        rma_wait_until(&returned, RMA_CMP_EQ, 1);
        block[0] = 4; /* RACE: second */
        printf("%ld\n", block[0]);
    }
    rma_barrier_all();
    if (me == 1) rma_free_mem(block);
    rma_finalize();
    return 0;
}
