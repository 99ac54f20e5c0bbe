/* SPDX-License-Identifier: BSD-3-Clause */
/* Both PEs put into each other's halo and read their own before a barrier. Mended by the barrier. */
#include <shmem.h>
#include <stdio.h>

static double inner[8], halo[8];

static void __attribute__((noinline)) exchange(int peer) {
    shmem_double_put_nbi(halo, inner, 8, peer); /* RACE: first */
}
static double __attribute__((noinline)) update(void) {
    double sum = 0;
    for (int i = 0; i < 8; i++) sum += halo[i]; /* RACE: second */
    return sum;
}

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (int i = 0; i < 8; i++) inner[i] = me + i;
    exchange(1 - me);
#ifndef RACY
    shmem_barrier_all();
#endif
    printf("%g\n", update());
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
