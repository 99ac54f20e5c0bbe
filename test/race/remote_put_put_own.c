/* SPDX-License-Identifier: BSD-3-Clause */
/* One PE puts twice to the same words of PE 1: puts have no order. Mended by a fence between them. */
#include <shmem.h>
#include <stdio.h>

static int words[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int first[4] = {1, 1, 1, 1}, second[4] = {2, 2, 2, 2};
    if (me == 0) {
        shmem_int_put(words, first, 4, 1); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_int_put(words, second, 4, 1); /* RACE: second */
    }
    shmem_barrier_all();
    printf("%d\n", words[3]);
    shmem_finalize();
    return 0;
}
