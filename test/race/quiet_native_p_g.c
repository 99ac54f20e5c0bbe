/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_p and rma_g of one word are indivisible towards each other and towards atomics: PEs may use them at the same
 * time on the same words, if they expect no order. */
/* NATIVE */
#include <rma.h>

static long words[2];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    long largest = 0;
    for (long i = 1; i <= 20; i++) {
        rma_p(&words[me], i, 1 - me);
        const long seen = rma_g(&words[me], 1 - me);
        rma_atomic_add(&words[1 - me], 0L, me);
        if (seen > largest) largest = seen;
    }
    rma_barrier_all();
    const int wrong = largest > 20 || rma_g(&words[1 - me], me) < 1;
    rma_finalize();
    return wrong;
}
