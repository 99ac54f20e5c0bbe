/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop with nowait, and a second one that reads what other threads wrote in the first. Mended: without nowait a
 * barrier ends the first loop. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static double first[8], second[8];

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
#pragma omp parallel
    {
#ifdef RACY
#pragma omp for schedule(static) nowait
#else
#pragma omp for schedule(static)
#endif
        for (int i = 0; i < 8; i++) first[i] = i; /* RACE: first */
#pragma omp for schedule(static)
        for (int i = 0; i < 8; i++) second[i] = first[7 - i]; /* RACE: second */
    }
    printf("%d %g\n", me, second[0]);
    shmem_finalize();
    return 0;
}
