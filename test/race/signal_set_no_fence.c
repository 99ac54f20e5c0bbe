/* SPDX-License-Identifier: BSD-3-Clause */
/* A put, and then a signal by a call of its own, with nothing between. Mended: a fence orders the two. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long data[4];
static uint64_t arrived;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long values[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_long_put(data, values, 4, 1); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_signal_set(&arrived, 1, 1);
    }
    if (me == 1) {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        printf("%ld\n", data[3]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
