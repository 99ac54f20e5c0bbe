/* SPDX-License-Identifier: BSD-3-Clause */
/* One section writes what the other one reads. Mended: the reading is behind the sections, and the barrier at their
 * end. Each waits for the other to begin, by counters that order nothing, so that two threads run them. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static long value, seen;
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
    {
#pragma omp sections
        {
#pragma omp section
            {
                meet();
                value = 3; /* RACE: first */
                __atomic_store_n(&written, 1, __ATOMIC_RELAXED);
            }
#pragma omp section
            {
                meet();
                wait_for_first();
#ifdef RACY
                seen = value; /* RACE: second */
#endif
            }
        }
#ifndef RACY
        if (omp_get_thread_num() == 0) seen = value;
#endif
    }
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
