/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements put by global pointer to PE 1, which reads the last of them. Mended by a barrier. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static int there[8];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const int here[4] = {1, 2, 3, 4};
    if (me == 0) rma_gptr_iput(rma_gptr(there, 1), here, 2, 1, sizeof here[0], 4); /* RACE: first */
#ifndef RACY
    rma_barrier_all();
#endif
    if (me == 1) printf("%d\n", there[6]); /* RACE: second */
    rma_barrier_all();
    rma_finalize();
    return 0;
}
