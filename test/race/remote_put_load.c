/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts to PE 1, which reads the same words, with nothing between the two. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

static long box[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long letter[4] = {1, 2, 3, 4};
    if (me == 0) shmem_long_put(box, letter, 4, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) printf("%ld\n", box[2]); /* RACE: second */
    shmem_finalize();
    return 0;
}
