/* SPDX-License-Identifier: BSD-3-Clause */
/* The flag is put, too, as an array of one: without a fence the two puts have no order. Mended by a fence. */
#include <shmem.h>
#include <stdio.h>

static long data[64], flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    static long source[64];
    const long one = 1;
    if (me == 0) {
        source[63] = 9;
        shmem_long_put(data, source, 64, 1); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_long_put(&flag, &one, 1, 1);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%ld\n", data[63]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
