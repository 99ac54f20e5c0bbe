/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop with nowait adds up, and one thread reads the sum at once. Mended by a barrier. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static long seen;
static int read_once; /* orders nothing */

/* The other thread reads before this one has added what it has. */
static void wait_for_reader(void) {
#ifdef RACY
    while (omp_get_thread_num() == 0 && !__atomic_load_n(&read_once, __ATOMIC_RELAXED)) sched_yield();
#endif
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    static long sum;
    omp_set_num_threads(2);
#pragma omp parallel
    {
#pragma omp for schedule(static) reduction(+ : sum) nowait /* RACE: first */
        for (int i = 0; i < 20; i++) {
            wait_for_reader();
            sum += i;
        }
#ifndef RACY
#pragma omp barrier
#endif
        if (omp_get_thread_num() == 1) {
            seen = *(volatile long *)&sum; /* RACE: second */
            __atomic_store_n(&read_once, 1, __ATOMIC_RELAXED);
        }
    }
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
