/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 stores a word around its caches, and PE 1 gets it. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static long long words[2];

static void set(long long *at, long long value) {
#ifdef __SSE2__
    _mm_stream_si64(at, value); /* RACE: first */
#else
    *at = value;
#endif
}

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long long seen = 0;
    if (me == 0) set(&words[1], 5);
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) seen = shmem_longlong_g(&words[1], 0); /* RACE: second */
    printf("%lld\n", seen);
    shmem_finalize();
    return 0;
}
