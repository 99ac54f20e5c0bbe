/* SPDX-License-Identifier: BSD-3-Clause */
/* An accumulate of elements of 4 bytes and one of 8 bytes of the same memory are not atomic towards each other. Mended:
 * both have 4. */
/* NATIVE */
#include <rma.h>

static uint64_t words[4];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const uint64_t ones[4] = {1, 1, 1, 1};
    const ptrdiff_t index[2] = {2, 1};
    if (me == 0) rma_accumulate(words, ones, 4, RMA_INT32, RMA_OP_XOR, NULL, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        rma_accumulate_indexed(words, ones, index, 2, RMA_INT64, RMA_OP_XOR, NULL, 1); /* RACE: second */
#else
        rma_accumulate_indexed(words, ones, index, 2, RMA_INT32, RMA_OP_XOR, NULL, 1);
#endif
    }
    rma_finalize();
    return 0;
}
