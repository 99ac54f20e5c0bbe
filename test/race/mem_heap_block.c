/* SPDX-License-Identifier: BSD-3-Clause */
/* A block of the symmetric heap: PE 0 puts into its middle, PE 1 reads all of it. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int *block = shmem_malloc(64 * sizeof *block);
    if (!block) shmem_global_exit(1);
    for (int i = 0; i < 64; i++) block[i] = 0;
    shmem_sync_all();
    if (me == 0) shmem_int_put(block + 30, (int[]){1, 2}, 2, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) {
        int sum = 0;
        for (int i = 0; i < 64; i++) sum += block[i]; /* RACE: second */
        printf("%d\n", sum);
    }
    shmem_free(block);
    shmem_finalize();
    return 0;
}
