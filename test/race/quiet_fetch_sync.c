/* SPDX-License-Identifier: BSD-3-Clause */
/* A fetching atomic and a blocking get are complete when they return: a sync, or a flag, is enough. */
#include <shmem.h>
#include <stdio.h>

static long counter, data = 4, seen;
static int done;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_long_atomic_fetch_add(&counter, 5, 1);
        seen = shmem_long_g(&data, 1);
        shmem_int_atomic_set(&done, 1, 1);
    } else {
        shmem_int_wait_until(&done, SHMEM_CMP_EQ, 1);
        data = 9;
    }
    shmem_sync_all();
    if (me == 1) printf("%ld\n", counter);
    shmem_finalize();
    return 0;
}
