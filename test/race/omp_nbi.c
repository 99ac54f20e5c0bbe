/* SPDX-License-Identifier: BSD-3-Clause */
/* Each thread begins a get into its part of a buffer; a loop behind the region reads all before quiet. Mended by
 * quiet. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdio.h>

static int remote[8], landing[8];

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    omp_set_num_threads(2);
#pragma omp parallel for
    for (int i = 0; i < 4; i++) shmem_int_get_nbi(landing + 2 * i, remote + 2 * i, 2, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += landing[i]; /* RACE: second */
    shmem_quiet();
    printf("%d\n", sum);
    shmem_finalize();
    return 0;
}
