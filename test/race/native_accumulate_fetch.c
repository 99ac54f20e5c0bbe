/* SPDX-License-Identifier: BSD-3-Clause */
/* What a nonblocking get_accumulate fetches is read before the quiet. Mended: the source, which may be read. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

#define ACCUMULATE rma_get_accumulate_section_nbi

static long words[16];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const ptrdiff_t there = 4 * sizeof(long), here = 0, into = 2 * sizeof(long);
    const size_t count = 4;
    long old[8] = {0}, one = 1;
    if (me == 0) {
        ACCUMULATE(words, &one, old, &there, &here, &into, 1, &count, RMA_LONG, RMA_OP_SUM, NULL, 1); /* RACE: first */
#ifdef RACY
        printf("%ld\n", old[6]); /* RACE: second */
#else
        printf("%ld %ld\n", old[5], one);
#endif
        rma_quiet();
    }
    rma_finalize();
    return 0;
}
