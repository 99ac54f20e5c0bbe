/* SPDX-License-Identifier: BSD-3-Clause */
/* A put to the PE's own number is a put: the load that follows may come first. Mended by quiet. */
#include <shmem.h>
#include <stdio.h>

static double own[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const double pair[2] = {1.0, 2.0};
    shmem_double_put(own, pair, 2, me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    const double seen = own[1]; /* RACE: second */
    printf("%g\n", seen);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
