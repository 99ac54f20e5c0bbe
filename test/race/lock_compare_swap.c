/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock made of compare-and-swap on PE 0 protects a word of PE 1. It is released before the put is complete. Mended:
 * quiet before the release. */
#include <shmem.h>
#include <stdio.h>

static long lock, word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    while (shmem_long_atomic_compare_swap(&lock, 0, me + 1, 0) != 0) continue;
    const long seen = shmem_long_g(&word, 1); /* RACE: second */
    shmem_long_p(&word, seen + 1, 1);         /* RACE: first */
#ifndef RACY
    shmem_quiet();
#else
    shmem_fence(); /* orders nothing between two PEs */
#endif
    shmem_long_atomic_set(&lock, 0, 0);
    shmem_barrier_all();
    if (me == 1) printf("%ld\n", word);
    shmem_finalize();
    return 0;
}
