/* SPDX-License-Identifier: BSD-3-Clause */
/* Even and odd PEs have a team each, and sync in it. PE 0 puts to PE 1, which is of the other team. Mended: to PE 2. */
/* PES: 4 */
#include <shmem.h>
#include <stdio.h>

static int data;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int value = 5;
    shmem_team_t parity;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &parity);
    shmem_team_t odd;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, 2, NULL, 0, &odd);
    if (me % 2) parity = odd;
#ifdef RACY
    const int target = 1;
#else
    const int target = 2;
#endif
    if (me == 0) shmem_int_put(&data, &value, 1, target); /* RACE: first */
    shmem_quiet();
    shmem_team_sync(parity);
    if (me == target) printf("%d\n", data); /* RACE: second */
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
