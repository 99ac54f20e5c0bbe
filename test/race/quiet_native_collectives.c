/* SPDX-License-Identifier: BSD-3-Clause */
/* Native collectives in a row with no barrier between two calls, with roots that change; what a root or a reduction
 * orders is used right away. */
/* NATIVE */
#include <rma.h>

static int source[2], dest[2], value, part, total;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    int wrong = 0;
    for (int round = 0; round < 6; round++) {
        const int root = round % 2;
        int copy = 0;
        if (me == root) source[0] = source[1] = value = round;
        rma_broadcast(RMA_TEAM_WORLD, dest, source, sizeof dest, root);
        rma_get(&copy, &value, sizeof copy, root);
        wrong += dest[1] != round || copy != round;
        part = copy;
        rma_sum_reduce(RMA_TEAM_WORLD, &total, &part, 1);
        wrong += total != 2 * round;
    }
    rma_finalize();
    return wrong;
}
