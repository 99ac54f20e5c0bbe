/* SPDX-License-Identifier: BSD-3-Clause */
/* A task's task writes: taskwait does not wait for it. Mended by taskgroup, which does. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static long value, seen;
static int begun;

/* The inner task is made to run on the other thread, by a flag that orders nothing. */
static void make_tasks(void) {
#pragma omp task if (0)
    {
#pragma omp task
        {
            __atomic_store_n(&begun, 1, __ATOMIC_RELAXED);
            value = 3; /* RACE: first */
        }
    }
    while (!__atomic_load_n(&begun, __ATOMIC_RELAXED)) sched_yield();
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
#pragma omp parallel
#pragma omp single
    {
#ifdef RACY
        make_tasks();
#pragma omp taskwait
#else
#pragma omp taskgroup
        make_tasks();
#endif
        seen = value; /* RACE: second */
    }
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
