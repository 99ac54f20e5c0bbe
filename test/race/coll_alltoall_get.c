/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE gets from the destination of another PE that may still be in the same alltoall. Mended: a sync after it. */
#include <shmem.h>
#include <stdio.h>

static long from[2] = {1, 2}, to[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    shmem_long_alltoall(SHMEM_TEAM_WORLD, to, from, 1); /* RACE: first */
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 0) printf("%ld\n", shmem_long_g(&to[1], 1)); /* RACE: second */
    shmem_finalize();
    return 0;
}
