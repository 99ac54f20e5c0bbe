/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE fills blocks of its local heap by loops, whose stores are recorded together, and frees them. The other PE gets
 * the same memory next, and parts of it are freed one by one: what was recorded of a freed block does not count, and a
 * record must not reach into the next block. */
/* NATIVE */
#include <rma.h>

#define N 700

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    int wrong = 0;
    for (int round = 0; round < 6; round++) {
        rma_gptr_t block[3];
        for (int i = 0; i < 3; i++) {
            long *a;
            if (rma_alloc_mem_on(1, (size_t)(N + round) * sizeof *a, &block[i]) != RMA_SUCCESS) return 1;
            a = rma_gptr_ptr(block[i]);
            if (!a) return 1;
            for (long k = 0; k < N + round; k++) a[k] = me + k;
            wrong += a[N / 2] != me + N / 2;
        }
        rma_gptr_free(block[1]);
        rma_gptr_free(block[round % 2 ? 0 : 2]);
        rma_gptr_free(block[round % 2 ? 2 : 0]);
    }
    rma_barrier_all();
    rma_finalize();
    return wrong;
}
