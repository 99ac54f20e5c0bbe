/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread gives back a lock that it has taken twice, and writes. Mended: it writes between the two. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static long shared, seen;
static int written; /* orders nothing */

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
    omp_set_num_threads(2);
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
            omp_set_nest_lock(&lock);
            omp_set_nest_lock(&lock);
            omp_unset_nest_lock(&lock);
#ifdef RACY
            omp_unset_nest_lock(&lock);
            *(volatile long *)&shared = 1; /* RACE: first */
#else
            *(volatile long *)&shared = 1;
            omp_unset_nest_lock(&lock);
#endif
            __atomic_store_n(&written, 1, __ATOMIC_RELAXED);
        } else {
            while (!__atomic_load_n(&written, __ATOMIC_RELAXED)) sched_yield();
            omp_set_nest_lock(&lock);
            seen = *(volatile long *)&shared; /* RACE: second */
            omp_unset_nest_lock(&lock);
        }
    }
    omp_destroy_nest_lock(&lock);
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
