/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 gets PE 1's result of a reduction: its own return says nothing of PE 1's. Mended: it reads its own result. */
#include <shmem.h>
#include <stdio.h>

static long mine, total;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    mine = me + 1;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &total, &mine, 1); /* RACE: first */
    if (me == 0) {
#ifdef RACY
        const long seen = shmem_long_g(&total, 1); /* RACE: second */
#else
        const long seen = total;
#endif
        printf("%ld\n", seen);
    }
    shmem_finalize();
    return 0;
}
