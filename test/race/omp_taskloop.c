/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks of a taskloop with nogroup write, and the task that has made them reads. Mended: without nogroup, taskloop
 * waits for them. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static long values[2], seen;
static int begun;

/* A task of the other thread's has written. Without the race: each of the two waits for the other to begin, so that two
 * threads run them. Neither orders anything. */
static void begin(void) {
#ifndef RACY
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < 2) sched_yield();
#endif
}
static void end(void) {
#ifdef RACY
    __atomic_store_n(&begun, 1, __ATOMIC_RELAXED);
#endif
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
#pragma omp taskloop num_tasks(2) nogroup
#else
#pragma omp taskloop num_tasks(2)
#endif
        for (int i = 0; i < 2; i++) {
            begin();
            values[i] = i + 1; /* RACE: first */
            end();
        }
#ifdef RACY
        while (!__atomic_load_n(&begun, __ATOMIC_RELAXED)) sched_yield();
#endif
        for (int i = 0; i < 2; i++) seen += values[i]; /* RACE: second */
    }
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
