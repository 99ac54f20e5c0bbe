/* SPDX-License-Identifier: BSD-3-Clause */
/* A put of blocks writes elements 0, 1, 4, 5, 8 and 9, and the owner reads element 5. Mended: the owner reads
 * element 6. */
#include <shmem.h>
#include <stdio.h>

static long tiles[12];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long source[6] = {1, 2, 3, 4, 5, 6};
    if (me == 0) shmem_long_ibput(tiles, source, 4, 2, 2, 3, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        printf("%ld\n", tiles[5]); /* RACE: second */
#else
        printf("%ld\n", tiles[6]);
#endif
    }
    shmem_finalize();
    return 0;
}
