/* SPDX-License-Identifier: BSD-3-Clause */
/* The flag by rma_put is a plain copy, with which the wait's atomic load races. Mended: the flag by rma_p. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long data[2], flag;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long values[2] = {1, 2}, one = 1;
    if (me == 0) {
        rma_put(data, values, sizeof values, 1);
        rma_fence();
#ifdef RACY
        rma_put(&flag, &one, sizeof one, 1); /* RACE: first */
#else
        rma_p(&flag, one, 1);
#endif
    } else {
        rma_wait_until(&flag, RMA_CMP_EQ, 1L); /* RACE: second */
#ifndef RACY
        printf("%ld\n", data[1]);
#endif
    }
    rma_finalize();
    return 0;
}
