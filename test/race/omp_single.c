/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread prepares a value in a single with nowait, and the others use it at once. Mended: single without nowait
 * ends with a barrier. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static int prepared, used[2];

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
#pragma omp parallel
    {
#ifdef RACY
#pragma omp single nowait
#else
#pragma omp single
#endif
        {
            const int value = 4 + omp_get_num_threads();
            *(volatile int *)&prepared = value; /* RACE: first */
        }
        used[omp_get_thread_num()] = *(volatile int *)&prepared; /* RACE: second */
    }
    printf("%d %d\n", me, used[0] + used[1]);
    shmem_finalize();
    return 0;
}
