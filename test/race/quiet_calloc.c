/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation and release begin or end with a barrier. */
#include <shmem.h>
#include <stdio.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long *block = shmem_calloc(8, sizeof *block);
    if (me == 0) shmem_long_p(&block[3], 5, 1);
    shmem_free(block);
    block = shmem_malloc(8 * sizeof *block);
    block[0] = me;
    shmem_barrier_all();
    const long other = shmem_long_g(&block[0], 1 - me);
    block = shmem_realloc(block, 64 * sizeof *block);
    block[0] = other;
    printf("%ld\n", block[0]);
    shmem_free(block);
    shmem_finalize();
    return 0;
}
