/* SPDX-License-Identifier: BSD-3-Clause */
/* The PEs are a grid of two by two. PE 3 reads what PE 0 has put to it, after a sync of its row alone. Mended: its
 * column syncs, too. */
/* PES: 4 */
#include <shmem.h>
#include <stdio.h>

static long corner;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    shmem_team_t row, column;
    if (shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column)) shmem_global_exit(1);
    if (me == 0) {
        shmem_long_p(&corner, 33, 3); /* RACE: first */
        shmem_quiet();
    }
    shmem_team_sync(row);
#ifndef RACY
    shmem_team_sync(column);
#endif
    if (me == 3) printf("%ld\n", corner); /* RACE: second */
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
