/* SPDX-License-Identifier: BSD-3-Clause */
/* Each iteration of a short loop reads what the one before wrote, and the schedule leaves open which thread runs it.
 * Mended: the iterations use only their own elements. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long values[5];

static long before_of(int i) {
#ifdef RACY
    return values[i - 1]; /* RACE: first */
#else
    return values[i];
#endif
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    omp_set_num_threads(2);
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 1; i < 5; i++) {
        const long before = before_of(i);
        values[i] = before + 1; /* RACE: second */
    }
    printf("%d %ld\n", shmem_my_pe(), values[4]);
    shmem_finalize();
    return 0;
}
