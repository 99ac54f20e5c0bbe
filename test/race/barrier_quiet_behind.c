/* SPDX-License-Identifier: BSD-3-Clause */
/* The quiet stands behind the sync: when PE 1 leaves the sync, PE 0's put need not be complete. Mended: before it. */
#include <shmem.h>
#include <stdio.h>

static long data[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long values[4] = {1, 2, 3, 4};
    shmem_team_t team;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team)) shmem_global_exit(1);
    if (me == 0) shmem_long_put(data, values, 4, 1); /* RACE: first */
#ifdef RACY
    shmem_team_sync(team);
    shmem_quiet();
#else
    shmem_quiet();
    shmem_team_sync(team);
#endif
    if (me == 1) printf("%ld\n", data[3]); /* RACE: second */
    shmem_team_destroy(team);
    shmem_finalize();
    return 0;
}
