/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop prefetches block i + 1 while it works on block i, and takes the wrong one of two buffers. Mended: it works
 * on the one that the quiet of the round before has completed. */
#include <shmem.h>
#include <stdio.h>

#define LEN 16
static int blocks[4][LEN];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int buffer[2][LEN], sum = 0;
    shmem_int_get(buffer[0], blocks[0], LEN, 1 - me);
    for (int i = 0; i < 3; i++) {
        shmem_int_get_nbi(buffer[(i + 1) % 2], blocks[i + 1], LEN, 1 - me); /* RACE: first */
#ifdef RACY
        const int *now = buffer[(i + 1) % 2];
#else
        const int *now = buffer[i % 2];
#endif
        for (int k = 0; k < LEN; k++) sum += now[k]; /* RACE: second */
        shmem_quiet();
    }
    printf("%d\n", sum);
    shmem_finalize();
    return 0;
}
