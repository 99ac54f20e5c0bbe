/* SPDX-License-Identifier: BSD-3-Clause */
/* The overloads of C++: a put by one and a get by another of the same words, with only a fence between. Mended by
 * quiet. */
#include <shmem.h>
#include <stdio.h>

static double words[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const double values[4] = {1, 2, 3, 4};
    double back[4] = {0, 0, 0, 0};
    if (me == 0) {
        shmem_put_nbi(words, values, 4, 1); /* RACE: first */
#ifdef RACY
        shmem_fence();
#else
        shmem_quiet();
#endif
        shmem_get(back, words, 4, 1); /* RACE: second */
    }
    printf("%g\n", back[3]);
    shmem_finalize();
    return 0;
}
