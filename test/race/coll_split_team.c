/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction of a team of PEs 0 and 1, whose source PE 2 writes by a put. PE 2 is in no step with the team. Mended
 * by a barrier of all. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long part[1] = {1}, total[1];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long value = 5;
    shmem_team_t pair;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &pair)) shmem_global_exit(1);
    if (me == 2) shmem_long_put(part, &value, 1, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (pair != SHMEM_TEAM_INVALID) shmem_long_sum_reduce(pair, total, part, 1); /* RACE: second */
    printf("%ld\n", total[0]);
    shmem_barrier_all();
    shmem_team_destroy(pair);
    shmem_finalize();
    return 0;
}
