/* SPDX-License-Identifier: BSD-3-Clause */
/* A barrier of a team of PEs 0 and 1 orders nothing for PE 2, which gets from PE 1 what PE 0 has put. Mended: PE 2
 * is of the team. */
/* NATIVE */
/* PES: 3 */
#include <rma.h>
#include <stdio.h>

static int data;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const int value = 9;
    rma_team *team;
#ifdef RACY
    const int size = 2;
#else
    const int size = 3;
#endif
    if (rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, size, &team)) rma_abort(1);
    if (me == 0) rma_put(&data, &value, sizeof value, 1); /* RACE: first */
    if (team != RMA_TEAM_INVALID) rma_team_barrier(team);
    if (me == 2) {
        int copy = 0;
        rma_get(&copy, &data, sizeof copy, 1); /* RACE: second */
        printf("%d\n", copy);
    }
    rma_barrier_all();
    rma_team_destroy(team);
    rma_finalize();
    return 0;
}
