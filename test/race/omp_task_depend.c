/* SPDX-License-Identifier: BSD-3-Clause */
/* A task reads what another one writes, and depends on another variable than that one. Mended: on the same. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static long value, other, seen;
static int begun, written;

/* Each of the two waits for the other to begin, so that two threads run them; by a counter that orders nothing. */
static void meet(void) {
#ifdef RACY
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < 2) sched_yield();
#else
    (void)begun;
#endif
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
#pragma omp task depend(out : value)
        {
            meet();
            value = 3; /* RACE: first */
            __atomic_store_n(&written, 1, __ATOMIC_RELAXED);
        }
#ifdef RACY
#pragma omp task depend(in : other)
#else
#pragma omp task depend(in : value)
#endif
        {
            meet();
            wait_for_first();
            seen = value; /* RACE: second */
        }
    }
    printf("%d %ld %ld\n", me, seen, other);
    shmem_finalize();
    return 0;
}
