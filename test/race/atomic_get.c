/* SPDX-License-Identifier: BSD-3-Clause */
/* One get reads all counters of PE 0, on which PE 1 counts by atomics. Mended by a barrier before the get. */
#include <shmem.h>
#include <stdio.h>

static long counters[8];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long copy[8] = {0};
    if (me == 1)
        for (int i = 0; i < 8; i += 2) shmem_long_atomic_inc(&counters[i], 0); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 0) {
        shmem_long_get(copy, counters, 8, 0); /* RACE: second */
        printf("%ld\n", copy[0]);
    }
    shmem_finalize();
    return 0;
}
