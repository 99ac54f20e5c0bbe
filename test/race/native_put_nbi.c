/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of rma_put_nbi is written before rma_quiet. Mended by rma_quiet. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static int inbox[4];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    int outbox[4] = {1, 2, 3, 4};
    rma_put_nbi(inbox, outbox, sizeof outbox, 1 - me); /* RACE: first */
#ifndef RACY
    rma_quiet();
#endif
    outbox[0] = 0; /* RACE: second */
    rma_barrier_all();
    printf("%d %d\n", inbox[0], outbox[0]);
    rma_finalize();
    return 0;
}
