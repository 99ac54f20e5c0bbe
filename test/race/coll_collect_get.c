/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE brings as many elements as its number says. PE 2 gets PE 0's result at once. Mended: behind a sync. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static short part[3] = {1, 2, 3}, all[3];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    short copy[3] = {0};
    shmem_short_collect(SHMEM_TEAM_WORLD, all, part, (size_t)me); /* RACE: first */
#ifndef RACY
    shmem_team_sync(SHMEM_TEAM_WORLD);
#endif
    if (me == 2) {
        shmem_short_get(copy, all, 3, 0); /* RACE: second */
        printf("%d\n", copy[2]);
    }
    shmem_finalize();
    return 0;
}
