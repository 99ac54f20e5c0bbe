/* SPDX-License-Identifier: BSD-3-Clause */
/* A global array with initial values: PE 1 increments its copy while PE 0 gets from it. Mended by a sync. */
#include <shmem.h>
#include <stdio.h>

int primes[6] = {2, 3, 5, 7, 11, 13};

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int copy[3] = {0};
    if (me == 1)
        for (int i = 0; i < 6; i++) primes[i]++; /* RACE: first */
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 0) shmem_int_get(copy, primes + 3, 3, 1); /* RACE: second */
    printf("%d\n", copy[0]);
    shmem_finalize();
    return 0;
}
