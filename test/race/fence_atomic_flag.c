/* SPDX-License-Identifier: BSD-3-Clause */
/* In OpenSHMEM an atomic is no release: the flag by shmem_atomic_set may arrive before the data. Mended by a fence. */
#include <shmem.h>
#include <stdio.h>

static long data, flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long value = 12;
    if (me == 0) {
        shmem_long_put(&data, &value, 1, 1); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_long_atomic_set(&flag, 1, 1);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%ld\n", data); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
