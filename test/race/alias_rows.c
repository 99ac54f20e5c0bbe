/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts a row of a matrix, and PE 1 reads a column, which crosses the row. Mended: PE 1 reads another row. */
#include <shmem.h>
#include <stdio.h>

#define N 6
static double matrix[N][N];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const double row[N] = {1, 2, 3, 4, 5, 6};
    double sum = 0;
    if (me == 0) shmem_double_put(matrix[2], row, N, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        for (int i = 0; i < N; i++) sum += matrix[i][4]; /* RACE: second */
#else
        for (int i = 0; i < N; i++) sum += matrix[4][i];
#endif
    }
    printf("%g\n", sum);
    shmem_finalize();
    return 0;
}
