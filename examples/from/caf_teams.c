/* SPDX-License-Identifier: BSD-3-Clause */
/* caf_teams: teams of images. */
#include <rma.h>
#include <stdio.h>

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    rma_team *half;
    long x = me, want = 0;

    /* Fortran: form team (color, half) */
    const int color = 2 * me / n;
    rma_team_split_color(RMA_TEAM_WORLD, color, 0, &half);
    /* Fortran: change team (half) */
    /* Fortran: this_image(), num_images() */
    const int mine = rma_team_my_pe(half), size = rma_team_n_pes(half);
    /* Fortran: call co_sum(x) */
    rma_sum_reduce(half, &x, &x, 1);
    /* Fortran: sync team (half) */
    rma_team_barrier(half);
    /* Fortran: end team */

    for (int pe = 0; pe < n; pe++) want += 2 * pe / n == color ? pe : 0;
    const int wrong = x != want || mine < 0 || mine >= size;
    if (wrong) printf("caf_teams: PE %d: sum %ld, not %ld\n", me, x, want);
    rma_team_destroy(half);
    rma_finalize();
    return wrong;
}
