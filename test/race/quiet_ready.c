/* SPDX-License-Identifier: BSD-3-Clause */
/* What is no race with a collective's dest: the dest of calls that follow each other, with nothing else between; a
 * reduction in place, whose source needs no synchronization; a source; what another collective or a flag has told the
 * root; the root's own copy. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long values[4], once[2], both[2][2], copy[2], ready;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    long sum = 0;
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 4; i++) values[i] = me + round;
        shmem_long_broadcast(SHMEM_TEAM_WORLD, once, values, 2, round % n);
        shmem_long_broadcast(SHMEM_TEAM_WORLD, once, values, 2, (round + 1) % n);
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, values, values, 4);
        sum += values[3];
        values[2] = sum;
        shmem_long_max_reduce(SHMEM_TEAM_WORLD, values + 2, values + 2, 2);
        shmem_long_fcollect(SHMEM_TEAM_WORLD, copy, values, 0);
    }
    for (int round = 0; round < 6; round++) {
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, both[round % 2], values, 2);
        sum += both[round % 2][1];
    }
    for (int round = 1; round < 4; round++) {
        shmem_long_broadcast(SHMEM_TEAM_WORLD, copy, values, 2, 0);
        if (me == 0) copy[0] = 3;
        sum += copy[1];
        if (me != 0) shmem_long_atomic_inc(&ready, 0);
        if (me == 0) shmem_long_wait_until(&ready, SHMEM_CMP_EQ, round * (n - 1));
    }
    printf("%ld\n", sum);
    shmem_finalize();
    return 0;
}
