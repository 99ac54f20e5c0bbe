/* SPDX-License-Identifier: BSD-3-Clause */
/* A recursive sum over an array that PE 0 puts to. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

static int leaves[16];

static int __attribute__((noinline)) sum(const int *values, int n) {
    if (n > 1) return sum(values, n / 2) + sum(values + n / 2, n - n / 2);
    const int leaf = values[0]; /* RACE: second */
    return leaf;
}

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int ones[4] = {1, 1, 1, 1};
    if (me == 0) shmem_int_put(leaves + 5, ones, 4, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) printf("%d\n", sum(leaves, 16));
    shmem_finalize();
    return 0;
}
