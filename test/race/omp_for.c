/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations of a parallel loop all add to one word. Mended by a reduction. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long sum;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    long total = 0;
    omp_set_num_threads(2);
#ifdef RACY
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 20; i++) *(volatile long *)&sum += i; /* RACE: first */ /* RACE: second */
    total = sum;
#else
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (int i = 0; i < 20; i++) total += i;
    sum = total;
#endif
    printf("%d %ld\n", me, total);
    shmem_finalize();
    return 0;
}
