/* SPDX-License-Identifier: BSD-3-Clause */
/* A block of PE 1's heap goes to PE 0, which writes it and gives it back by rma_gptr_free; PE 1's next allocations
 * may get the same memory, and write it. */
/* NATIVE */
#include <rma.h>
#include <string.h>

static rma_gptr_t handed;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    for (int round = 0; round < 6; round++) {
        if (me == 1) {
            char *block = NULL;
            if (rma_alloc_mem(1 << 16, &block)) rma_abort(1);
            memset(block, round, 1 << 16);
            rma_atomic_set(&handed, rma_gptr(block, 1), 0);
            rma_wait_until(&handed, RMA_CMP_EQ, (rma_gptr_t)round + 1);
        } else {
            const long values[2] = {round, round};
            rma_wait_until(&handed, RMA_CMP_NE, RMA_GPTR_NULL);
            const rma_gptr_t block = rma_atomic_swap(&handed, RMA_GPTR_NULL, 0);
            rma_gptr_put(block + 128, values, sizeof values);
            rma_quiet();
            rma_gptr_free(block);
            rma_atomic_set(&handed, (rma_gptr_t)round + 1, 1);
        }
    }
    rma_finalize();
    return 0;
}
