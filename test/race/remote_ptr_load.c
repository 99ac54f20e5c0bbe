/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 loads through shmem_ptr what PE 1 stores. Mended by a sync. */
#include <shmem.h>
#include <stdio.h>

static long counters[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 1) counters[2] = 17; /* RACE: first */
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 0) {
        const long *there = shmem_ptr(counters, 1);
        if (there) printf("%ld\n", there[2]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
