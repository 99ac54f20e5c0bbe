/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_p and a plain load of the same word race. Mended: rma_g of the own number, which is indivisible towards rma_p. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long word;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    if (me == 0) rma_p(&word, 5L, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        const long seen = *(volatile long *)&word; /* RACE: second */
#else
        const long seen = rma_g(&word, 1);
#endif
        printf("%ld\n", seen);
    }
    rma_finalize();
    return 0;
}
