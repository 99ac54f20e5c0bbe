/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts and PE 1 loads the same words with nothing between the two. Mended by a barrier. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long box[4];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long letter[4] = {1, 2, 3, 4};
    if (me == 0) rma_put(box, letter, sizeof letter, 1); /* RACE: first */
#ifndef RACY
    rma_barrier_all();
#endif
    if (me == 1) printf("%ld\n", box[3]); /* RACE: second */
    rma_finalize();
    return 0;
}
