/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_sync_all completes nothing, so the get may still write when the loop reads. Mended by shmem_barrier_all,
 * which includes a quiet. */
#include <shmem.h>
#include <stdio.h>

static short samples[32];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    short mine[32] = {0};
    shmem_short_get_nbi(mine, samples, 32, 1 - me); /* RACE: first */
#ifdef RACY
    shmem_sync_all();
#else
    shmem_barrier_all();
#endif
    int sum = 0;
    for (int i = 0; i < 32; i += 5) sum += mine[i]; /* RACE: second */
    printf("%d\n", sum);
    shmem_finalize();
    return 0;
}
