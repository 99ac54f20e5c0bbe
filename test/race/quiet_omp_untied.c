/* SPDX-License-Identifier: BSD-3-Clause */
/* Untied tasks go on in another thread after a taskyield; a taskgroup waits for them. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <stdio.h>

int main(void) {
    int provided;
    long sum = 0;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int round = 0; round < 50; round++) {
#pragma omp taskgroup
        for (int k = 0; k < 8; k++) {
#pragma omp task untied shared(sum)
            {
                long part = k;
#pragma omp taskyield
                part++;
#pragma omp critical
                sum += part;
#pragma omp taskyield
            }
        }
        sum++;
    }
    printf("%ld\n", sum);
    shmem_finalize();
    return 0;
}
