/* SPDX-License-Identifier: BSD-3-Clause */
/* A broadcast tells the leaves of the root, and the root nothing of the leaves: the root gets what PE 1 stored
 * before. Mended by a sync. */
#include <shmem.h>
#include <stdio.h>

static int source, dest, value;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 1) value = 11; /* RACE: first */
    shmem_int_broadcast(SHMEM_TEAM_WORLD, &dest, &source, 1, 0);
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 0) printf("%d\n", shmem_int_g(&value, 1)); /* RACE: second */
    shmem_finalize();
    return 0;
}
