/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 counts in the default context, and PE 1 in one of a team split from the PEs with shared memory: atomics of these
 * two domains are not atomic towards each other. Mended: both contexts belong to the world. */
#include <shmem.h>
#include <stdio.h>

static long count;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    shmem_team_t team;
    shmem_ctx_t ctx;
#ifdef RACY
    const shmem_team_t parent = SHMEM_TEAM_SHARED;
#else
    const shmem_team_t parent = SHMEM_TEAM_WORLD;
#endif
    if (shmem_team_split_strided(parent, 0, 1, shmem_team_n_pes(parent), NULL, 0, &team)) shmem_global_exit(1);
    if (shmem_team_create_ctx(team, 0, &ctx)) shmem_global_exit(1);
    if (me == 0) shmem_long_atomic_inc(&count, 0);          /* RACE: first */
    if (me == 1) shmem_ctx_long_atomic_inc(ctx, &count, 0); /* RACE: second */
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    if (me == 0) printf("%ld\n", count);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(team);
    shmem_finalize();
    return 0;
}
