/* SPDX-License-Identifier: BSD-3-Clause */
/* A put of four elements and a shmem_p into the midst of them have no order, though one PE does both. Mended by a
 * fence. */
#include <shmem.h>
#include <stdio.h>

static long words[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long zero[4] = {0};
    if (me == 1) {
        shmem_long_put_nbi(words, zero, 4, 0); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_long_p(&words[2], 5, 0); /* RACE: second */
    }
    shmem_barrier_all();
    printf("%ld\n", words[2]);
    shmem_finalize();
    return 0;
}
