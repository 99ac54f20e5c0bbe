/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 stores through rma_ptr, and PE 1 puts to itself. Mended by a barrier between the two. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long cells[4];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long value = 2;
    long *there = rma_ptr(cells, 1);
    if (me == 0 && there) there[3] = 1; /* RACE: first */
#ifndef RACY
    rma_barrier_all();
#endif
    if (me == 1) rma_put(&cells[3], &value, sizeof value, 1); /* RACE: second */
    rma_barrier_all();
    printf("%ld\n", cells[3]);
    rma_finalize();
    return 0;
}
