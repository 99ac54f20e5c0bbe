/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs 0 and 1 meet in a team's sync; PE 2, which reads what PE 0 puts, is not of that team. Mended: it is. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static int data;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int value = 7;
    shmem_team_t team;
#ifdef RACY
    const int size = 2;
#else
    const int size = 3;
#endif
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, size, NULL, 0, &team)) shmem_global_exit(1);
    if (me == 0) {
        shmem_int_put(&data, &value, 1, 2); /* RACE: first */
        shmem_quiet();
    }
    if (team != SHMEM_TEAM_INVALID) shmem_team_sync(team);
    if (me == 2) printf("%d\n", data); /* RACE: second */
    shmem_barrier_all();
    shmem_team_destroy(team);
    shmem_finalize();
    return 0;
}
