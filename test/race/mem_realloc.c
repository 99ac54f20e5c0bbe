/* SPDX-License-Identifier: BSD-3-Clause */
/* A block that has grown: PE 1 fills the new part while PE 0 gets it. Mended by a sync. */
#include <shmem.h>
#include <stdio.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long copy[2] = {0};
    long *block = shmem_calloc(4, sizeof *block);
    block = block ? shmem_realloc(block, 4096 * sizeof *block) : NULL;
    if (!block) shmem_global_exit(1);
    if (me == 1)
        for (int i = 4; i < 8; i++) block[i] = i; /* RACE: first */
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 0) shmem_long_get(copy, block + 6, 2, 1); /* RACE: second */
    printf("%ld\n", copy[1]);
    shmem_free(block);
    shmem_finalize();
    return 0;
}
