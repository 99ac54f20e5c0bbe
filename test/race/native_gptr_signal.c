/* SPDX-License-Identifier: BSD-3-Clause */
/* Data by global pointer with a signal; the target reads the data without a look at the signal. Mended: it waits for
 * the signal. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long data;
static uint64_t signal;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long here = 7;
    const rma_gptr_t to = rma_gptr(&data, 0), word = rma_gptr(&signal, 0);
    if (me == 1) rma_gptr_put_signal(to, &here, sizeof here, word, 1, RMA_SIGNAL_SET); /* RACE: first */
    if (me == 0) {
#ifndef RACY
        rma_signal_wait_until(&signal, RMA_CMP_EQ, 1);
#endif
        printf("%ld\n", data); /* RACE: second */
    }
    rma_barrier_all();
    rma_finalize();
    return 0;
}
