/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP threads compute a row, one of them exchanges the halo between two barriers of the threads, and a reduction
 * sums. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>

static double row[10], next[10];

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    double sum = 0;
    omp_set_num_threads(2);
    for (int i = 0; i < 10; i++) row[i] = 1;
    shmem_barrier_all();
#pragma omp parallel
    {
        for (int round = 0; round < 3; round++) {
#pragma omp single
            {
                shmem_double_p(&row[9], row[1], 1 - me);
                shmem_double_p(&row[0], row[8], 1 - me);
                shmem_barrier_all();
            }
#pragma omp for schedule(static)
            for (int i = 1; i < 9; i++) next[i] = (row[i - 1] + row[i] + row[i + 1]) / 3;
#pragma omp for schedule(static)
            for (int i = 1; i < 9; i++) row[i] = next[i];
#pragma omp single
            shmem_barrier_all();
        }
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < 10; i++) sum += row[i];
    }
    shmem_finalize();
    return sum < 9.999 || sum > 10.001;
}
