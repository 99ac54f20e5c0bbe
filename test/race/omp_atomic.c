/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread adds to a word by omp atomic, and another one reads it plainly. Mended: by atomic, too. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long count, seen;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
#pragma omp atomic
            count += 1; /* RACE: first */
        } else {
            long value;
#ifndef RACY
#pragma omp atomic read
#endif
            value = count; /* RACE: second */
            seen = value;
        }
    }
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
