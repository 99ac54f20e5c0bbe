/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_p of four bytes and rma_g of the eight around them: indivisible are those of one size. Mended: rma_g of the
 * same four. */
/* NATIVE */
#include <rma.h>
#include <stdint.h>
#include <stdio.h>

static union {
    uint64_t whole;
    uint32_t half[2];
} word;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    if (me == 0) rma_p(&word.half[0], (uint32_t)7, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        const uint64_t seen = rma_g(&word.whole, 1); /* RACE: second */
#else
        const uint64_t seen = rma_g(&word.half[0], 1);
#endif
        printf("%d\n", (int)seen);
    }
    rma_finalize();
    return 0;
}
