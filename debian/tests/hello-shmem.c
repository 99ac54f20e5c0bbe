/* SPDX-License-Identifier: BSD-3-Clause */
/* hello-shmem: PE 0 collects one number from each PE, by OpenSHMEM. */
#include <shmem.h>
#include <stdio.h>

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    long *squares = (long *)shmem_calloc((size_t)n, sizeof *squares);
    if (!squares) shmem_global_exit(1);
    shmem_long_p(&squares[me], (long)me * me, 0);
    shmem_barrier_all();
    if (me == 0) {
        long sum = 0;
        for (int pe = 0; pe < n; pe++) sum += squares[pe];
        printf("PE 0 was given squares that sum to %ld\n", sum);
    }
    shmem_free(squares);
    shmem_finalize();
    return 0;
}
