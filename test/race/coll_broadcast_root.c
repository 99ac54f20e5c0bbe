/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of a broadcast overwrites the source at once, which it may, and another PE puts to it. Mended: a barrier
 * before the put. */
#include <shmem.h>
#include <stdio.h>

static long from[2] = {1, 2}, to[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, to, from, 2, 0);
    if (me == 0) from[0] = 5; /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) shmem_long_p(&from[0], 6, 0); /* RACE: second */
    shmem_barrier_all();
    printf("%ld\n", to[0]);
    shmem_finalize();
    return 0;
}
