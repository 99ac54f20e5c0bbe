/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0's get writes the buffer that its put, still under way, reads. Mended by quiet between the two. */
#include <shmem.h>
#include <stdio.h>

static double theirs[4] = {1, 2, 3, 4}, result[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    double scratch[4] = {9, 9, 9, 9};
    if (me == 0) {
        shmem_double_put_nbi(result, scratch, 4, 1); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        shmem_double_get(scratch, theirs, 4, 1); /* RACE: second */
    }
    shmem_barrier_all();
    printf("%g\n", result[0] + scratch[0]);
    shmem_finalize();
    return 0;
}
