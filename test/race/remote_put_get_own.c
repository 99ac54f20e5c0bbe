/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE gets what it has just put. Without a quiet the put may still be under way. Mended by quiet. */
#include <shmem.h>
#include <stdio.h>

static long cell;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long back = 0;
    const long value = 6;
    if (me == 0) {
        shmem_long_put(&cell, &value, 1, 1); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        shmem_long_get(&back, &cell, 1, 1); /* RACE: second */
        printf("%ld\n", back);
    }
    shmem_finalize();
    return 0;
}
