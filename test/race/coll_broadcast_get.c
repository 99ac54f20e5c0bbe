/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0, the root, gets what the broadcast writes on PE 1: the root may leave the broadcast before PE 1 is there.
 * Mended by a sync behind the broadcast. */
#include <shmem.h>
#include <stdio.h>

static long source[4] = {1, 2, 3, 4}, dest[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long copy = 0;
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 0); /* RACE: first */
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 0) {
        shmem_long_get(&copy, &dest[2], 1, 1); /* RACE: second */
        printf("%ld\n", copy);
    }
    shmem_finalize();
    return 0;
}
