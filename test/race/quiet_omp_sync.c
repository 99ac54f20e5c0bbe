/* SPDX-License-Identifier: BSD-3-Clause */
/* What OpenMP has to order threads, tasks left out: copyprivate, ordered, doacross, locks, critical and atomic
 * sections, sections, reductions of several kinds, threadprivate and copyin, masters, flushes, cancelled loops, regions
 * in regions, and a team before the library is initialized. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <sched.h>

#define N 16
static long counts[6], chain[N + 1], row[N], seed, flag, message;
#pragma omp threadprivate(seed)

static void locks(void) {
    static omp_lock_t lock;
    static omp_nest_lock_t nest;
#pragma omp single
    {
        omp_init_lock(&lock);
        omp_init_nest_lock(&nest);
    }
    for (int i = 0; i < 50; i++) {
        omp_set_lock(&lock);
        counts[0]++;
        omp_unset_lock(&lock);
        while (!omp_test_nest_lock(&nest)) sched_yield();
        omp_set_nest_lock(&nest);
        counts[1]++;
        omp_unset_nest_lock(&nest);
        counts[1]++;
        omp_unset_nest_lock(&nest);
#pragma omp critical
        counts[2]++;
#pragma omp critical(named)
        counts[3]++;
#pragma omp atomic
        counts[4]++;
    }
#pragma omp barrier
#pragma omp single
    {
        omp_destroy_lock(&lock);
        omp_destroy_nest_lock(&nest);
    }
}

static void loops(void) {
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < N; i++) {
#pragma omp ordered
        counts[5] += i;
    }
#pragma omp for ordered(1) schedule(static, 1)
    for (int i = 1; i <= N; i++) {
#pragma omp ordered depend(sink : i - 1)
        chain[i] = chain[i - 1] + 1;
#pragma omp ordered depend(source)
    }
#pragma omp sections
    {
#pragma omp section
        row[0] = 1;
#pragma omp section
        row[1] = 2;
    }
    if (omp_get_thread_num() == omp_get_num_threads() - 1) row[2] = row[0] + row[1];
#pragma omp for schedule(guided)
    for (int i = 3; i < N; i++) row[i] = i;
#pragma omp master
    row[3] += row[N - 1];
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < N; i++) {
        if (i == 2) {
#pragma omp cancel for
        }
        chain[i] = row[3];
    }
}

int main(void) {
    int provided, wrong = 0;
    long sum = 0, most = 0;
    omp_set_num_threads(3);
#pragma omp parallel
#pragma omp critical
    counts[0]++;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    omp_set_max_active_levels(2);
    seed = 5;
    for (int round = 0; round < 4; round++) {
#pragma omp parallel copyin(seed)
        {
            long *shared;
            locks();
            loops();
            seed += omp_get_thread_num();
#pragma omp single copyprivate(shared)
            {
                shared = &row[4];
                *shared = 7;
            }
#pragma omp critical
            *shared += 1;
#pragma omp barrier
            if (omp_get_thread_num() == 0) {
                message = *shared;
#pragma omp flush
#pragma omp atomic write
                flag = round + 1;
#pragma omp flush
            } else {
                long now = 0;
                while (now != round + 1) {
#pragma omp flush
#pragma omp atomic read
                    now = flag;
                    sched_yield();
                }
#pragma omp flush
                if (message != 10) {
#pragma omp atomic
                    wrong++;
                }
            }
#pragma omp for reduction(+ : sum) reduction(max : most)
            for (int i = 0; i < N; i++) {
                sum += i;
                most = most > i ? most : i;
            }
            if (omp_get_thread_num() == 1) {
#pragma omp parallel num_threads(2)
                {
#pragma omp for
                    for (int i = 0; i < N; i++) row[i] = i;
                }
                row[0] = row[N - 1];
            }
        }
        wrong += row[0] != N - 1 || most != N - 1;
        seed = 5;
    }
    wrong += sum != 4 * N * (N - 1) / 2;
    shmem_finalize();
    return wrong != 0;
}
