/* SPDX-License-Identifier: BSD-3-Clause */
/* Two critical sections of different names do not exclude each other. Mended: they have the same name. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static int shared, seen;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
#pragma omp critical(front)
            *(volatile int *)&shared += 1; /* RACE: first */
        } else {
#ifdef RACY
#pragma omp critical(back)
#else
#pragma omp critical(front)
#endif
            seen = *(volatile int *)&shared; /* RACE: second */
        }
    }
    printf("%d %d %d\n", me, shared, seen);
    shmem_finalize();
    return 0;
}
