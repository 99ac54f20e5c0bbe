/* SPDX-License-Identifier: BSD-3-Clause */
/* A context of a team: its PE 0 is PE 1 of the world. PE 1 reads what was put to it without a wait. Mended: it waits.
 */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long word;
static int done;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    shmem_team_t team;
    shmem_ctx_t ctx;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 2, NULL, 0, &team);
    if (me == 2 && !shmem_team_create_ctx(team, 0, &ctx)) {
        shmem_ctx_long_p(ctx, &word, 8, 0); /* RACE: first */
        shmem_ctx_quiet(ctx);
        shmem_int_atomic_set(&done, 1, 1);
        shmem_ctx_destroy(ctx);
    }
    if (me == 1) {
#ifndef RACY
        shmem_int_wait_until(&done, SHMEM_CMP_EQ, 1);
#endif
        printf("%ld\n", word); /* RACE: second */
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
