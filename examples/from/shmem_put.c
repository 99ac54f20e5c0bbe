/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_put: put, get and their ordering. */
#include <rma.h>
#include <stdio.h>

static long numbers[3], one, apart[6];

int main(void) {
    /* SHMEM: shmem_init() */
    if (rma_init() != RMA_SUCCESS) return 1;
    /* SHMEM: shmem_my_pe(), shmem_n_pes() */
    const int me = rma_my_pe(), n = rma_n_pes();
    const int right = (me + 1) % n, left = (me + n - 1) % n;
    const long x[3] = {me, 10 + me, 20 + me};
    long y[3];

    /* SHMEM: shmem_calloc(1, sizeof *flag) */
    long *flag = rma_calloc(1, sizeof *flag);
    if (!flag) rma_abort(1);
    /* SHMEM: shmem_long_put(numbers, x, 3, right) */
    rma_put(numbers, x, sizeof x, right);
    /* SHMEM: shmem_long_p(&one, me, right) */
    rma_p(&one, me, right);
    /* SHMEM: shmem_long_iput(apart, x, 2, 1, 3, right) */
    rma_iput(apart, x, 2, 1, sizeof x[0], 3, right);
    /* SHMEM: shmem_fence() */
    rma_fence();
    rma_p(flag, 1, right);
    /* SHMEM: shmem_quiet() */
    rma_quiet();
    /* SHMEM: shmem_long_get(y, numbers, 3, right) */
    rma_get(y, numbers, sizeof y, right);
    /* SHMEM: shmem_long_g(&one, right) */
    long z = rma_g(&one, right);
    /* SHMEM: shmem_barrier_all() */
    rma_barrier_all();

    int wrong = z != me || one != left || *flag != 1;
    for (int i = 0; i < 3; i++) wrong |= y[i] != x[i] || numbers[i] != 10 * i + left || apart[2 * i] != 10 * i + left;
    if (wrong) printf("shmem_put: PE %d was given %ld and %ld\n", me, numbers[0], one);
    /* SHMEM: shmem_free(flag) */
    rma_free(flag);
    /* SHMEM: shmem_finalize() */
    rma_finalize();
    return wrong;
}
