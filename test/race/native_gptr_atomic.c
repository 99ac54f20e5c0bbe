/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics by global pointer and by symmetric address on one word are atomic towards each other; a plain store of the
 * owner is not. Mended: the owner uses one, too. */
/* NATIVE */
#include <rma.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t word;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const rma_gptr_t there = rma_gptr(&word, 1);
    if (me == 0) rma_gptr_atomic_add(there, 3); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        word = 10; /* RACE: second */
#else
        rma_atomic_add(&word, (uint64_t)10, 1);
#endif
    }
    rma_barrier_all();
    printf("%d\n", (int)rma_atomic_fetch(&word, 1));
    rma_finalize();
    return 0;
}
