/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread 0 writes and thread 1 reads within one parallel region. Mended by a barrier of the threads. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long value, seen;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) value = 3; /* RACE: first */
#ifndef RACY
#pragma omp barrier
#endif
        if (omp_get_thread_num() == 1) seen = value; /* RACE: second */
    }
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
