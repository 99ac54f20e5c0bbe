/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with OpenMP that calls no function of its runtime by name: the linker may leave gcc's runtime out. Two
 * threads count without an order. Mended: in a critical section. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <stdio.h>

static int counted;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
#pragma omp parallel num_threads(2)
    {
#ifndef RACY
#pragma omp critical
#endif
        *(volatile int *)&counted += 1; /* RACE: first */ /* RACE: second */
    }
    printf("%d %d\n", shmem_my_pe(), counted);
    shmem_finalize();
    return 0;
}
