/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 puts into the root's source, and the broadcast reads it with no barrier between. Mended by a barrier before
 * the broadcast. */
#include <shmem.h>
#include <stdio.h>

static double source[2], dest[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const double values[2] = {1.5, 2.5};
    if (me == 1) shmem_double_put(source, values, 2, 0); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    shmem_double_broadcast(SHMEM_TEAM_WORLD, dest, source, 2, 0); /* RACE: second */
    printf("%g\n", dest[1]);
    shmem_finalize();
    return 0;
}
