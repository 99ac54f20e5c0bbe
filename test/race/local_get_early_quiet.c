/* SPDX-License-Identifier: BSD-3-Clause */
/* The quiet stands before the get that it should complete. Mended: it stands behind. */
#include <shmem.h>
#include <stdio.h>

static float weights[10];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    static float cache[10];
#ifdef RACY
    shmem_quiet();
#endif
    shmem_float_get_nbi(cache, weights, 10, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    cache[9] += 1.0f; /* RACE: second */
    shmem_quiet();
    printf("%g\n", (double)cache[9]);
    shmem_finalize();
    return 0;
}
