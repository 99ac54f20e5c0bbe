/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of PE 0 put rows to PE 1, which reads before a barrier among the PEs. Mended by that barrier. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static double rows[4][8];

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
    if (me == 0) {
#pragma omp parallel for
        for (int r = 0; r < 4; r++) {
            const double row[8] = {r, r, r, r, r, r, r, r};
            shmem_double_put(rows[r], row, 8, 1); /* RACE: first */
        }
    }
#ifndef RACY
    shmem_barrier_all();
#endif
    double sum = 0;
    if (me == 1)
        for (int r = 0; r < 4; r++) sum += rows[r][r]; /* RACE: second */
    printf("%g\n", sum);
    shmem_finalize();
    return 0;
}
