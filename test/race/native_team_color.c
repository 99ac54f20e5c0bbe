/* SPDX-License-Identifier: BSD-3-Clause */
/* A put to PE 1, and a barrier of a team by color, which PE 1 is in as well or is not. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static int there;

int main(void) {
    rma_init();
    const int me = rma_my_pe(), value = 8;
    rma_team *team;
#ifdef RACY
    if (rma_team_split_color(RMA_TEAM_WORLD, me, 0, &team)) rma_abort(1);
#else
    if (rma_team_split_color(RMA_TEAM_WORLD, 5, -me, &team)) rma_abort(1);
#endif
    if (me == 0) rma_put(&there, &value, sizeof value, 1); /* RACE: first */
    rma_team_barrier(team);
    if (me == 1) printf("%d\n", there); /* RACE: second */
    rma_barrier_all();
    rma_finalize();
    return 0;
}
