/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE reads the result of a reduction, and calls the next one, which has the same dest. Mended: a second dest. Who
 * has left a reduction knows what all did before they called it. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long part = 1, totals[2];

int main(void) {
    shmem_init();
    long sum = 0;
    for (int round = 0; round < 4; round++) {
#ifdef RACY
        const int k = 0;
#else
        const int k = round % 2;
#endif
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &totals[k], &part, 1); /* RACE: second */
        sum += totals[k];                                              /* RACE: first */
    }
    printf("%ld\n", sum);
    shmem_finalize();
    return 0;
}
