/* SPDX-License-Identifier: BSD-3-Clause */
/* A task writes, and the task that made it reads without waiting. Mended by taskwait. The other thread is made to take
 * the task, by counters that order nothing. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static long value, seen;
static int begun;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        {
            __atomic_store_n(&begun, 1, __ATOMIC_RELAXED);
            value = 3; /* RACE: first */
        }
        while (!__atomic_load_n(&begun, __ATOMIC_RELAXED)) sched_yield();
#ifndef RACY
#pragma omp taskwait
#endif
        seen = value; /* RACE: second */
    }
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
