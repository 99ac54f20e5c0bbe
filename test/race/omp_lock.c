/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads use a lock each. Mended: the same lock. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long shared, seen;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_lock_t locks[2];
    for (int i = 0; i < 2; i++) omp_init_lock(&locks[i]);
    omp_set_num_threads(2);
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
            omp_set_lock(&locks[0]);
            *(volatile long *)&shared += 1; /* RACE: first */
            omp_unset_lock(&locks[0]);
        } else {
#ifdef RACY
            omp_lock_t *lock = &locks[1];
#else
            omp_lock_t *lock = &locks[0];
#endif
            while (!omp_test_lock(lock)) continue;
            seen = *(volatile long *)&shared; /* RACE: second */
            omp_unset_lock(lock);
        }
    }
    for (int i = 0; i < 2; i++) omp_destroy_lock(&locks[i]);
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
