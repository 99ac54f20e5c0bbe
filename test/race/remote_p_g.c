/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 writes a word of PE 1 by shmem_p, and PE 1 reads it by shmem_g of its own number: both are plain accesses.
 * Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

static short mark;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    short seen = 0;
    if (me == 0) shmem_short_p(&mark, 3, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) seen = shmem_short_g(&mark, 1); /* RACE: second */
    printf("%d\n", seen);
    shmem_finalize();
    return 0;
}
