/* SPDX-License-Identifier: BSD-3-Clause */
/* The dest of a broadcast is the source of a nonblocking put. Mended by quiet before the sync. */
/* SAYS: shmem_barrier_all between the two: before any PE calls shmem_long_broadcast */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long value, copy, target;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, &copy, &value, 1, 0);
    shmem_long_put_nbi(&target, &copy, 1, (me + 1) % n); /* RACE: first */
#ifdef RACY
    shmem_sync_all();
    shmem_quiet(); /* too late for the root */
#else
    shmem_quiet();
    shmem_sync_all();
#endif
    shmem_long_broadcast(SHMEM_TEAM_WORLD, &copy, &value, 1, 0); /* RACE: second */
    shmem_barrier_all();
    printf("%ld\n", target);
    shmem_finalize();
    return 0;
}
