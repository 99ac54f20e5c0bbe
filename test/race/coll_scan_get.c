/* SPDX-License-Identifier: BSD-3-Clause */
/* Behind an exclusive scan PE 1 gets PE 0's result, which PE 0 may not have written yet. Mended by a sync. */
#include <shmem.h>
#include <stdio.h>

static int part = 3, before = -1;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    shmem_int_sum_exscan(SHMEM_TEAM_WORLD, &before, &part, 1); /* RACE: first */
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 1) printf("%d\n", shmem_int_g(&before, 0)); /* RACE: second */
    shmem_finalize();
    return 0;
}
