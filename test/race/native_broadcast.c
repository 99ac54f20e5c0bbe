/* SPDX-License-Identifier: BSD-3-Clause */
/* What the root did before a broadcast comes before what the others do after. The other direction does not hold: PE
 * 0, the root, gets what PE 1 stored before. Mended: PE 1 is the root. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static int source, dest, value;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    if (me == 1) value = 12; /* RACE: first */
#ifdef RACY
    rma_broadcast(RMA_TEAM_WORLD, &dest, &source, sizeof dest, 0);
#else
    rma_broadcast(RMA_TEAM_WORLD, &dest, &source, sizeof dest, 1);
#endif
    if (me == 0) {
        int copy = 0;
        rma_get(&copy, &value, sizeof copy, 1); /* RACE: second */
        printf("%d\n", copy);
    }
    rma_finalize();
    return 0;
}
