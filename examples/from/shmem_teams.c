/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_teams: teams: the PEs with even numbers, and those with odd ones. */
#include <rma.h>
#include <stdio.h>

static long box;

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    rma_team *even, *odd = RMA_TEAM_INVALID;
    long x = me, sum = 0;

    /* SHMEM: shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &even) */
    rma_team_split_strided(RMA_TEAM_WORLD, 0, 2, (n + 1) / 2, &even);
    if (n > 1) rma_team_split_strided(RMA_TEAM_WORLD, 1, 2, n / 2, &odd);
    rma_team *team = me % 2 == 0 ? even : odd;
    /* SHMEM: shmem_team_my_pe(team), shmem_team_n_pes(team) */
    const int mine = rma_team_my_pe(team), size = rma_team_n_pes(team);
    /* SHMEM: shmem_team_translate_pe(team, (mine + 1) % size, SHMEM_TEAM_WORLD) */
    const int next = rma_team_translate_pe(team, (mine + 1) % size, RMA_TEAM_WORLD);
    rma_p(&box, me, next);
    rma_quiet();
    /* SHMEM: shmem_team_sync(team) */
    rma_team_sync(team);
    /* SHMEM: shmem_long_sum_reduce(team, &sum, &x, 1) */
    rma_sum_reduce(team, &sum, &x, 1);

    long want = 0;
    for (int pe = me % 2; pe < n; pe += 2) want += pe;
    const int wrong = sum != want || box % 2 != me % 2 || mine != me / 2;
    if (wrong) printf("shmem_teams: PE %d: sum %ld, not %ld\n", me, sum, want);
    /* SHMEM: shmem_team_destroy(team) */
    rma_team_destroy(team);
    rma_finalize();
    return wrong;
}
