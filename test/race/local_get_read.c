/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 reads the destination of a get that may still be under way. Mended by shmem_quiet, which completes the get. */
#include <shmem.h>
#include <stdio.h>

static long table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long copy[8] = {0};
    shmem_long_get_nbi(copy, table, 8, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    const long seen = copy[3]; /* RACE: second */
    printf("%ld\n", seen);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
