/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 of 3 reads the whole result of a reduction in a loop, and all reduce again, to the same dest. Mended: a second
 * dest. The loop's reads are recorded by whole blocks. */
/* PES: 3 */
/* SAYS: PE 1 writes 8 bytes of PE 0's */
#include <shmem.h>
#include <stdio.h>

#define N 1000

static double part[N], totals[2][N];

int main(void) {
    shmem_init();
    double sum = 0;
    for (int round = 0; round < 4; round++) {
#ifdef RACY
        const int k = 0;
#else
        const int k = round % 2;
#endif
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, totals[k], part, N);         /* RACE: second */
        for (int i = 0; i < N && shmem_my_pe() == 0; i++) sum += totals[k][i]; /* RACE: first */
    }
    printf("%g\n", sum);
    shmem_finalize();
    return 0;
}
