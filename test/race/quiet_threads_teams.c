/* SPDX-License-Identifier: BSD-3-Clause */
/* Each thread has a team and a work array of its own, all with the same PEs, and their collectives are under way at the
 * same time. What each thread reads is ordered by its own. */
/* PES: 3 */
#include <shmem.h>
#include <pthread.h>
#include <sched.h>

#define THREADS 3
#define ROUNDS  30

static shmem_team_t teams[THREADS];
static long part[THREADS], total[THREADS], all[THREADS][3], sync[THREADS][SHMEM_SYNC_SIZE];
static int wrong[THREADS];

static void *work(void *argument) {
    const int t = *(int *)argument, n = shmem_n_pes();
    for (int round = 0; round < ROUNDS; round++) {
        part[t] = round + t;
        shmem_long_sum_reduce(teams[t], &total[t], &part[t], 1);
        wrong[t] += total[t] != n * (round + t);
        if (round % 4 == t) sched_yield();
        shmem_team_sync(teams[t]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        part[t] = round - t;
        shmem_fcollect64(all[t], &part[t], 1, 0, 0, n, sync[t]);
        wrong[t] += all[t][n - 1] != round - t;
        if (round % 4 == t) sched_yield();
        shmem_barrier(0, 0, n, sync[t]);
    }
    return NULL;
}

int main(void) {
    int provided, numbers[THREADS], sum = 0;
    pthread_t threads[THREADS];
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++) sync[t][i] = SHMEM_SYNC_VALUE;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &teams[t]);
        numbers[t] = t;
    }
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, work, &numbers[t])) shmem_global_exit(1);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        sum += wrong[t];
    }
    for (int t = 0; t < THREADS; t++) shmem_team_destroy(teams[t]);
    shmem_finalize();
    return sum != 0;
}
