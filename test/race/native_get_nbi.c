/* SPDX-License-Identifier: BSD-3-Clause */
/* The destination of rma_get_nbi is read before rma_quiet: on one node it happens to be there, between nodes it may
 * not. Mended by rma_quiet. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static int table[8];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    int copy[8] = {0};
    rma_get_nbi(copy, table, sizeof copy, 1 - me); /* RACE: first */
#ifndef RACY
    rma_quiet();
#endif
    printf("%d\n", copy[7]); /* RACE: second */
    rma_quiet();
    rma_finalize();
    return 0;
}
