/* SPDX-License-Identifier: BSD-3-Clause */
/* As ready_alltoall.c, with a stride. Mended: it clears the elements between. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long to[12], from[6];

int main(void) {
    shmem_init();
#ifdef RACY
    const int first = 0;
#else
    const int first = 1;
#endif
    for (int i = first; i < 12; i += 2) to[i] = -1;            /* RACE: first */
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, to, from, 2, 1, 2); /* RACE: second */
    printf("%ld\n", to[10]);
    shmem_finalize();
    return 0;
}
