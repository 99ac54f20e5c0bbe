/* SPDX-License-Identifier: BSD-3-Clause */
/* Each round a PE gets what its neighbour computes in the next round. Mended: two barriers in each round. */
#include <shmem.h>
#include <stdio.h>

static long mine, next;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (int round = 0; round < 3; round++) {
        mine = round * 10 + me; /* RACE: first */
        shmem_barrier_all();
        next = shmem_long_g(&mine, 1 - me); /* RACE: second */
#ifndef RACY
        shmem_barrier_all();
#endif
    }
    printf("%ld\n", next);
    shmem_finalize();
    return 0;
}
