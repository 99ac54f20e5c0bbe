/* SPDX-License-Identifier: BSD-3-Clause */
/* A put and an atomic on one word race. Mended: the put is an rma_p, which is indivisible towards atomics of its
 * size. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long counter;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long zero = 0;
    if (me == 0) {
#ifdef RACY
        rma_put(&counter, &zero, sizeof zero, 1); /* RACE: first */
#else
        rma_p(&counter, zero, 1);
#endif
    } else {
        printf("%ld\n", rma_atomic_fetch_add(&counter, 1L, 1)); /* RACE: second */
    }
    rma_finalize();
    return 0;
}
