/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 allocates on PE 1, writes the block and hands it over by rma_p with no fence: PE 1 may see the pointer before
 * the data. Mended by rma_quiet. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static rma_gptr_t handed;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long values[2] = {4, 5};
    if (me == 0) {
        rma_gptr_t block;
        if (rma_alloc_mem_on(1, sizeof values, &block)) rma_abort(1);
        rma_gptr_put(block, values, sizeof values); /* RACE: first */
#ifndef RACY
        rma_quiet();
#endif
        rma_p(&handed, block, 1);
    } else {
        rma_wait_until(&handed, RMA_CMP_NE, RMA_GPTR_NULL);
        const long *block = rma_gptr_ptr(rma_atomic_fetch(&handed, 1));
        if (block) printf("%ld\n", block[1]); /* RACE: second */
    }
    rma_barrier_all();
    rma_finalize();
    return 0;
}
