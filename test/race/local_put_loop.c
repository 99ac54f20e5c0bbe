/* SPDX-License-Identifier: BSD-3-Clause */
/* One buffer is filled and put in each round of a loop, with one quiet after the loop. Mended: each round has a
 * buffer of its own. */
#include <shmem.h>
#include <stdio.h>

#define ROUNDS 4
static long rows[ROUNDS][8];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long buffer[ROUNDS][8] = {{0}};
    for (int r = 0; r < ROUNDS; r++) {
#ifdef RACY
        long *fill = buffer[0];
#else
        long *fill = buffer[r];
#endif
        for (int i = 0; i < 8; i++) fill[i] = r + i;  /* RACE: second */
        shmem_long_put_nbi(rows[r], fill, 8, 1 - me); /* RACE: first */
    }
    shmem_barrier_all();
    printf("%ld\n", rows[ROUNDS - 1][7]);
    shmem_finalize();
    return 0;
}
