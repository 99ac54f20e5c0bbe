/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_g is a plain read: the owner's store races with it. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

static long level = 1;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) printf("%ld\n", shmem_long_g(&level, 1)); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) level = 2; /* RACE: second */
    shmem_finalize();
    return 0;
}
