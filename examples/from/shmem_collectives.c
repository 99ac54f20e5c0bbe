/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_collectives: collectives. */
#include <rma.h>
#include <stdio.h>

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    const size_t pes = (size_t)n;
    long *one = rma_calloc(1, sizeof *one), *all = rma_calloc(pes, sizeof *all), *sent = rma_calloc(pes, sizeof *sent);
    double x = me + 1, sum = 0;
    if (!one || !all || !sent) rma_abort(1);
    int wrong = 0;

    *one = me == 0 ? 42 : 0;
    /* SHMEM: shmem_long_broadcast(SHMEM_TEAM_WORLD, one, one, 1, 0) */
    rma_broadcast(RMA_TEAM_WORLD, one, one, sizeof *one, 0);
    wrong |= *one != 42;
    *one = 10 + me;
    /* SHMEM: shmem_long_fcollect(SHMEM_TEAM_WORLD, all, one, 1) */
    rma_fcollect(RMA_TEAM_WORLD, all, one, sizeof *one);
    for (int pe = 0; pe < n; pe++) wrong |= all[pe] != 10 + pe;
    for (int pe = 0; pe < n; pe++) sent[pe] = 100 * me + pe;
    /* SHMEM: shmem_long_alltoall(SHMEM_TEAM_WORLD, all, sent, 1) */
    rma_alltoall(RMA_TEAM_WORLD, all, sent, sizeof *all);
    for (int pe = 0; pe < n; pe++) wrong |= all[pe] != 100 * pe + me;
    /* SHMEM: shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &sum, &x, 1) */
    rma_sum_reduce(RMA_TEAM_WORLD, &sum, &x, 1);
    wrong |= (long)sum != (long)n * (n + 1) / 2;

    if (wrong) printf("shmem_collectives: PE %d: sum %g\n", me, sum);
    rma_free(sent);
    rma_free(all);
    rma_free(one);
    rma_finalize();
    return wrong;
}
