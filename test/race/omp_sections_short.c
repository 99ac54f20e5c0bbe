/* SPDX-License-Identifier: BSD-3-Clause */
/* One section writes what another one reads, and both are so short that a thread could run all of them before the
 * others come. Mended: each section has a variable of its own. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long values[2], seen;

static void __attribute__((noinline)) set(long value) {
    const long more = 1;
    values[0] = value + more; /* RACE: first */
}

static void __attribute__((noinline)) take(int i) {
    const int from = i;
    seen = values[from]; /* RACE: second */
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    omp_set_num_threads(2);
#pragma omp parallel sections
    {
#pragma omp section
        set(3);
#pragma omp section
#ifdef RACY
        take(0);
#else
        take(1);
#endif
    }
    printf("%d %ld\n", shmem_my_pe(), seen);
    shmem_finalize();
    return 0;
}
