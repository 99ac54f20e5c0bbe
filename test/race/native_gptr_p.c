/* SPDX-License-Identifier: BSD-3-Clause */
/* A value put by global pointer to a word that PE 1 reads. Mended by a barrier. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long there;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    if (me == 0) rma_gptr_p_long(rma_gptr(&there, 1), 5); /* RACE: first */
#ifndef RACY
    rma_barrier_all();
#endif
    if (me == 1) printf("%ld\n", there); /* RACE: second */
    rma_barrier_all();
    rma_finalize();
    return 0;
}
