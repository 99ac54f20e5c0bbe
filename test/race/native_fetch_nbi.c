/* SPDX-License-Identifier: BSD-3-Clause */
/* The old value of a nonblocking atomic is read before rma_quiet. Mended by rma_quiet. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static int counter;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    int old = 0;
    rma_atomic_fetch_add_nbi(&old, &counter, 2, 1 - me); /* RACE: first */
#ifdef RACY
    rma_fence();
#else
    rma_quiet();
#endif
    printf("%d\n", old); /* RACE: second */
    rma_quiet();
    rma_finalize();
    return 0;
}
