/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations of a loop, dealt out in turn, each add to one word. Mended by ordered. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long sum;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 8; i++) {
#ifndef RACY
#pragma omp ordered
#endif
        *(volatile long *)&sum += i; /* RACE: first */ /* RACE: second */
    }
    printf("%d %ld\n", me, sum);
    shmem_finalize();
    return 0;
}
