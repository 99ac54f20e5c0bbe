/* SPDX-License-Identifier: BSD-3-Clause */
/* The flag is set by rma_p, which releases nothing. Mended: by rma_atomic_set, which does, and needs no fence. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long data, flag;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long value = 3;
    if (me == 0) {
        rma_put(&data, &value, sizeof value, 1); /* RACE: first */
#ifdef RACY
        rma_p(&flag, 1L, 1);
#else
        rma_atomic_set(&flag, 1L, 1);
#endif
    } else {
        rma_wait_until(&flag, RMA_CMP_EQ, 1L);
        printf("%ld\n", data); /* RACE: second */
    }
    rma_finalize();
    return 0;
}
