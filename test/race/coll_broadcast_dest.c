/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts into the array in which PE 1 gets the broadcast's data. Mended: the put goes to words behind these. */
#include <shmem.h>
#include <stdio.h>

static int source[4], dest[8];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[2] = {1, 2};
#ifdef RACY
    if (me == 0) shmem_int_put(dest + 3, values, 2, 1); /* RACE: first */
#else
    if (me == 0) shmem_int_put(dest + 4, values, 2, 1);
#endif
    shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 0); /* RACE: second */
    shmem_barrier_all();
    printf("%d\n", dest[3]);
    shmem_finalize();
    return 0;
}
