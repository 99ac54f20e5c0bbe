/* SPDX-License-Identifier: BSD-3-Clause */
/* A strided put, then a flag: the put needs a fence as any other does. Mended by the fence. */
#include <shmem.h>
#include <stdio.h>

static int column[16], flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int ones[4] = {1, 1, 1, 1};
    if (me == 1) {
        shmem_int_iput(column, ones, 4, 1, 4, 0); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_int_atomic_set(&flag, 1, 0);
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%d\n", column[12]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
