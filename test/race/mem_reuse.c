/* SPDX-License-Identifier: BSD-3-Clause */
/* A block is freed and its place allocated again. What was done to the old one is ordered; the put into the new one
 * races with its owner's load. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int *block = shmem_malloc(256);
    if (!block) shmem_global_exit(1);
    shmem_int_p(&block[5], 1, 1 - me);
    shmem_free(block);
    int *again = shmem_calloc(64, sizeof *again);
    if (!again) shmem_global_exit(1);
    if (me == 1) shmem_int_p(&again[5], 2, 0); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 0) printf("%d\n", again[5]); /* RACE: second */
    shmem_free(again);
    shmem_finalize();
    return 0;
}
