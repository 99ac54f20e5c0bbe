/* SPDX-License-Identifier: BSD-3-Clause */
/* An alltoall with strides writes every second element; PE 0 reads elements of PE 1's result by a get at once, an
 * even one. Mended: an odd one, which nobody writes. */
#include <shmem.h>
#include <stdio.h>

static long from[2] = {1, 2}, to[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, to, from, 2, 1, 1); /* RACE: first */
    if (me == 0) {
#ifdef RACY
        printf("%ld\n", shmem_long_g(&to[2], 1)); /* RACE: second */
#else
        printf("%ld\n", shmem_long_g(&to[3], 1));
#endif
    }
    shmem_finalize();
    return 0;
}
