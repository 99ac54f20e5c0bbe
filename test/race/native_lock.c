/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 reads without the lock with which PE 0 writes. Mended: it holds the lock. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static rma_lock_t lock = RMA_LOCK_INIT;
static int pair[2];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    int copy[2] = {5, 5};
    if (me == 0) {
        rma_set_lock(&lock);
        rma_put(pair, copy, sizeof copy, 1); /* RACE: first */
        rma_clear_lock(&lock);
    } else {
#ifndef RACY
        rma_set_lock(&lock);
#endif
        copy[0] = pair[0]; /* RACE: second */
#ifndef RACY
        rma_clear_lock(&lock);
#endif
        printf("%d\n", copy[0]);
    }
    rma_finalize();
    return 0;
}
