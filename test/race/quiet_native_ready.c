/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE writes the dest of a native collective itself, in its own call: it may use its dest until then. */
/* NATIVE */
/* PES: 3 */
#include <rma.h>
#include <stdio.h>

static long part[3] = {1, 2, 3}, all[9];

int main(void) {
    rma_init();
    long sum = 0;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 9; i++) all[i] = -1;
        rma_broadcast(RMA_TEAM_WORLD, all, part, sizeof part, 0);
        sum += all[0];
        rma_fcollect(RMA_TEAM_WORLD, all, part, sizeof part);
        sum += all[8];
        rma_sum_reduce(RMA_TEAM_WORLD, all, part, 3);
        sum += all[1];
        rma_alltoall(RMA_TEAM_WORLD, all, part, sizeof *part);
        sum += all[2];
    }
    printf("%ld\n", sum);
    rma_finalize();
    return 0;
}
