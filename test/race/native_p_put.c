/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_p and rma_put of one word race: the put's bytes have no order. Mended: both PEs write by rma_p. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static int word;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const int value = 2;
    if (me == 0) rma_p(&word, 1, 1); /* RACE: first */
#ifdef RACY
    if (me == 1) rma_put(&word, &value, sizeof value, 1); /* RACE: second */
#else
    if (me == 1) rma_p(&word, value, 1);
#endif
    rma_barrier_all();
    if (me == 1) printf("%d\n", word);
    rma_finalize();
    return 0;
}
