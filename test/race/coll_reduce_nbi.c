/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of a reduction is the destination of a get that is under way. Mended by quiet between the two. */
#include <shmem.h>
#include <stdio.h>

static int remote[4] = {1, 2, 3, 4}, source[4], dest[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    shmem_int_get_nbi(source, remote, 4, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 4); /* RACE: second */
    shmem_quiet();
    printf("%d\n", dest[3]);
    shmem_finalize();
    return 0;
}
