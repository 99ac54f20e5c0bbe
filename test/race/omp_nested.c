/* SPDX-License-Identifier: BSD-3-Clause */
/* A region within a region writes, and another thread of the outer one reads. Mended by a barrier of the outer one
 * behind the inner. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long values[2], seen;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_max_active_levels(2);
    omp_set_num_threads(2);
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
#pragma omp parallel num_threads(2)
            values[omp_get_thread_num()] = 2; /* RACE: first */
        }
#ifndef RACY
#pragma omp barrier
#endif
        if (omp_get_thread_num() == 1) seen = values[1]; /* RACE: second */
    }
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
