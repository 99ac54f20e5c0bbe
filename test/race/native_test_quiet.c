/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffer of a nonblocking put is filled again, without a test. Mended: rma_test_quiet was asked until it said
 * that all is complete. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long there, here = 3;

int main(void) {
    rma_init();
    if (rma_my_pe() == 0) {
        rma_put_nbi(&there, &here, sizeof here, 1); /* RACE: first */
#ifndef RACY
        while (!rma_test_quiet()) continue;
#endif
        here = 4; /* RACE: second */
    }
    rma_barrier_all();
    printf("%ld\n", there);
    rma_finalize();
    return 0;
}
