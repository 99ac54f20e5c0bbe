/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates of all PEs on the same elements, in all shapes, and atomics of the same type beside them, are atomic
 * towards each other; sections of different PEs that interleave do not race; and both are complete after a barrier. */
/* NATIVE */
#include <rma.h>

static double sums[8];
static long counts[8];
static int matrix[8][8];
static short halves[16];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const double ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const long one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const short ones_of_two[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const ptrdiff_t even[2] = {2 * sizeof(long), 0}, near[2] = {sizeof(long), 0}, index[3] = {1, 1, 6};
    const size_t count[1] = {4};
    const struct rma_block list[2] = {{32, 16}, {0, 8}};
    long old[8], all = 0;
    int wrong = 0;

    for (int round = 0; round < 3; round++) {
        rma_accumulate(halves, ones_of_two, 16, RMA_SHORT, RMA_OP_SUM, NULL, 0);
        rma_accumulate(sums, ones, 8, RMA_DOUBLE, RMA_OP_SUM, NULL, 0);
        rma_accumulate_section(counts, one, even, near, 1, count, RMA_LONG, RMA_OP_SUM, NULL, 1);
        rma_accumulate_indexed_nbi(counts, one, index, 3, RMA_LONG, RMA_OP_SUM, NULL, 1);
        rma_get_accumulate_blocks(counts, one, old, list, 2, NULL, 0, NULL, 0, RMA_LONG, RMA_OP_SUM, NULL, 1);
        all += old[0];
        rma_atomic_add(&counts[4], 1L, 1);
        rma_get_accumulate(counts, NULL, old, 8, RMA_LONG, RMA_OP_FETCH, NULL, 1);
    }
    {
        /* Columns in turn: each PE writes its own ones. */
        const ptrdiff_t there[2] = {sizeof matrix[0], 2 * sizeof(int)}, here[2] = {4 * sizeof(int), sizeof(int)};
        const size_t box[2] = {8, 4};
        int mine[8][4];
        for (int i = 0; i < 32; i++) mine[i / 4][i % 4] = me + 1;
        rma_put_section(&matrix[0][me], mine, there, here, sizeof(int), 2, box, 0);
    }
    rma_barrier_all();
    if (me == 0)
        for (int i = 0; i < 8; i++) wrong |= sums[i] != 6 || halves[i] != 6;
    if (me == 1) wrong |= counts[1] != 12 || counts[4] != 18;
    for (int i = 0; me == 0 && i < 64; i++) wrong |= matrix[i / 8][i % 8] != i % 2 + 1;
    rma_finalize();
    return wrong || all < 0;
}
