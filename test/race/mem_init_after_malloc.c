/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 clears its block after shmem_malloc, and PE 0 puts into it at once: the call's own barrier comes before the
 * clearing. Mended: PE 1 gets the block cleared, from shmem_calloc. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
#ifdef RACY
    long *block = shmem_malloc(8 * sizeof *block);
#else
    long *block = shmem_calloc(8, sizeof *block);
#endif
    if (!block) shmem_global_exit(1);
#ifdef RACY
    memset(block, 0, 8 * sizeof *block); /* RACE: first */
#endif
    if (me == 0) shmem_long_p(&block[3], 4, 1); /* RACE: second */
    shmem_barrier_all();
    printf("%ld\n", block[3]);
    shmem_free(block);
    shmem_finalize();
    return 0;
}
