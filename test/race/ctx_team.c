/* SPDX-License-Identifier: BSD-3-Clause */
/* A context made for a team: the program waits by the quiet of the default context. Mended: by that of the context. */
#include <shmem.h>
#include <stdio.h>

static long remote = 9;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long copy = 0;
    shmem_team_t pair;
    shmem_ctx_t ctx;
    const shmem_team_config_t config = {.num_contexts = 1};
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, -1, 2, &config, SHMEM_TEAM_NUM_CONTEXTS, &pair))
        shmem_global_exit(1);
    if (shmem_team_create_ctx(pair, 0, &ctx)) shmem_global_exit(1);
    if (me == 0) {
        shmem_ctx_long_get_nbi(ctx, &copy, &remote, 1, 0); /* RACE: first */
#ifdef RACY
        shmem_quiet();
#else
        shmem_ctx_quiet(ctx);
#endif
        printf("%ld\n", copy); /* RACE: second */
        shmem_ctx_quiet(ctx);
    }
    shmem_barrier_all();
    shmem_team_destroy(pair);
    shmem_finalize();
    return 0;
}
