/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread creates two short tasks, and could run both itself while it waits for them. They write the same variable.
 * Mended: in a critical section. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long value;

static void add(void) {
    const long more = 2;
    value = more; /* RACE: first */ /* RACE: second */
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    omp_set_num_threads(2);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 2; i++) {
#pragma omp task
            {
#ifndef RACY
#pragma omp critical
#endif
                add();
            }
        }
#pragma omp taskwait
    }
    printf("%d %ld\n", shmem_my_pe(), value);
    shmem_finalize();
    return 0;
}
