/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 stores two of four words through a mask, and PE 1 gets one of these. Mended: it gets one of the others, which a
 * store of the whole vector would overwrite. */
/* FLAGS: -mavx */
#include <shmem.h>
#include <stdio.h>
#if defined __AVX__ && !defined __clang__
#include <immintrin.h>
#define STORE(AT, VALUE) _mm256_maskstore_pd(AT, _mm256_set_epi64x(0, -1, -1, 0), _mm256_set1_pd(VALUE))
#else
#define STORE(AT, VALUE) ((AT)[1] = (VALUE), (AT)[2] = (VALUE))
#endif

static double words[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    double seen = 0;
    if (me == 0) STORE(words, 5); /* RACE: first */
#ifdef RACY
    if (me == 1) seen = shmem_double_g(&words[2], 0); /* RACE: second */
#else
    if (me == 1) seen = shmem_double_g(&words[3], 0);
#endif
    shmem_barrier_all();
    if (me == 1) printf("%g\n", seen);
    shmem_finalize();
    return 0;
}
