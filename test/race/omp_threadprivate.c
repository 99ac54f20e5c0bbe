/* SPDX-License-Identifier: BSD-3-Clause */
/* All threads use one static variable as scratch memory. Mended: each thread has its own. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long scratch;
#ifndef RACY
#pragma omp threadprivate(scratch)
#endif

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    long sums[2] = {0, 0};
    omp_set_num_threads(2);
#pragma omp parallel
    {
        *(volatile long *)&scratch = omp_get_thread_num() + 1; /* RACE: first */ /* RACE: second */
        sums[omp_get_thread_num()] = 1;
    }
    printf("%d %ld\n", me, sums[0] + sums[1]);
    shmem_finalize();
    return 0;
}
