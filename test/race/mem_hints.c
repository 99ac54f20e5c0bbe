/* SPDX-License-Identifier: BSD-3-Clause */
/* A block with the hint that atomics will come: one PE's atomic races with its owner's store all the same. Mended by
 * a barrier. */
#include <shmem.h>
#include <stdio.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long *counter = shmem_malloc_with_hints(sizeof *counter, SHMEM_MALLOC_ATOMICS_REMOTE);
    if (!counter) shmem_global_exit(1);
    if (me == 1) *counter = 0; /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 0) shmem_long_atomic_inc(counter, 1); /* RACE: second */
    shmem_barrier_all();
    printf("%ld\n", *counter);
    shmem_free(counter);
    shmem_finalize();
    return 0;
}
