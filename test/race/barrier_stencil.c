/* SPDX-License-Identifier: BSD-3-Clause */
/* A stencil with one barrier in each round, between put and read: the next round's put meets the neighbour's read.
 * Mended by a second barrier behind the read. */
#include <shmem.h>
#include <stdio.h>

static double halo[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    double line[4] = {1, 2, 3, 4}, sum = 0;
    for (int round = 0; round < 3; round++) {
        shmem_double_put(halo, line, 4, 1 - me); /* RACE: second */
        shmem_barrier_all();
        for (int i = 0; i < 4; i++) sum += halo[i]; /* RACE: first */
#ifndef RACY
        shmem_barrier_all();
#endif
        line[0] = sum;
    }
    printf("%g\n", sum);
    shmem_finalize();
    return 0;
}
