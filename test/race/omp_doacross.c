/* SPDX-License-Identifier: BSD-3-Clause */
/* Each iteration reads what the one before has written, and waits for the one before that. Mended: for the one
 * before. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static long chain[9];

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
#pragma omp parallel for ordered(1) schedule(static, 1)
    for (int i = 1; i < 9; i++) {
#ifdef RACY
#pragma omp ordered depend(sink : i - 2)
        chain[i] = chain[i - 1] + 1; /* RACE: first */ /* RACE: second */
#else
#pragma omp ordered depend(sink : i - 1)
        chain[i] = chain[i - 1] + 1;
#endif
#pragma omp ordered depend(source)
    }
    printf("%d %ld\n", me, chain[8]);
    shmem_finalize();
    return 0;
}
