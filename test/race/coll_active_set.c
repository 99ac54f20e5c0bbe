/* SPDX-License-Identifier: BSD-3-Clause */
/* The old broadcast of an active set: the root changes PE 1's result by a put, with no sync between. Mended by a
 * barrier. */
#include <shmem.h>
#include <stdio.h>

static long work[SHMEM_BCAST_SYNC_SIZE];
static long source[2] = {1, 2}, dest[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++) work[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    shmem_broadcast64(dest, source, 2, 0, 0, 0, 2, work); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 0) shmem_long_p(&dest[1], 9, 1); /* RACE: second */
    shmem_barrier_all();
    printf("%ld\n", dest[1]);
    shmem_finalize();
    return 0;
}
