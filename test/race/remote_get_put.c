/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 gets from PE 2 what PE 1 puts there. Mended: PE 1 waits in a barrier until PE 0 has read. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long table[8];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long copy[8] = {0};
    const long fresh[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    if (me == 0) shmem_long_get(copy, table, 8, 2); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) shmem_long_put(table + 6, fresh, 2, 2); /* RACE: second */
    shmem_barrier_all();
    printf("%ld\n", copy[6] + table[6]);
    shmem_finalize();
    return 0;
}
