/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_test finds the flag not set, and has learnt nothing; PE 1 reads all the same. Mended: it goes on until it is
 * set. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static int data, flag, go;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const int value = 5;
    if (me == 0) {
        rma_put(&data, &value, sizeof value, 1); /* RACE: first */
        rma_wait_until(&go, RMA_CMP_EQ, 1);
        rma_atomic_set(&flag, 1, 1);
    } else {
        int there = rma_test(&flag, RMA_CMP_EQ, 1);
#ifdef RACY
        const int seen = data; /* RACE: second */
        rma_atomic_set(&go, 1, 0);
#else
        rma_atomic_set(&go, 1, 0);
        while (!there) there = rma_test(&flag, RMA_CMP_EQ, 1);
        const int seen = data;
#endif
        printf("%d %d\n", there, seen);
    }
    rma_finalize();
    return 0;
}
