/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions and scans in place; a broadcast whose root changes the source afterwards. */
#include <shmem.h>
#include <stdio.h>

static long values[4], to[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) values[i] = me + i;
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, values, values, 4);
        shmem_long_broadcast(SHMEM_TEAM_WORLD, to, values, 4, 0);
        values[0] = to[1];
        shmem_long_sum_inscan(SHMEM_TEAM_WORLD, values, values, 4);
    }
    printf("%ld\n", values[0]);
    shmem_finalize();
    return 0;
}
