/* SPDX-License-Identifier: BSD-3-Clause */
/* Two tasks of one parent write the same word. Mended by a critical section in both. Each waits for the other to begin,
 * by a counter that orders nothing, so that two threads run them. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static long value;
static int begun, written;

static void meet(void) {
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < 2) sched_yield();
}

/* The second access comes after the first one in time. */
static void wait_for_first(void) {
    while (!__atomic_load_n(&written, __ATOMIC_RELAXED)) sched_yield();
}

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
            meet();
#ifdef RACY
            value = 1; /* RACE: first */
#else
#pragma omp critical
            value = 1;
#endif
            __atomic_store_n(&written, 1, __ATOMIC_RELAXED);
        }
#pragma omp task
        {
            meet();
            wait_for_first();
#ifdef RACY
            value = 2; /* RACE: second */
#else
#pragma omp critical
            value = 2;
#endif
        }
    }
    printf("%d %ld\n", me, value);
    shmem_finalize();
    return 0;
}
