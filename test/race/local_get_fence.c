/* SPDX-License-Identifier: BSD-3-Clause */
/* A fence orders puts and completes no get: PE 0 reads the destination of the get too early. Mended by quiet in its
 * place. */
#include <shmem.h>
#include <stdio.h>

static double field[16];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    static double halo[16];
    if (me == 0) {
        shmem_double_get_nbi(halo, field, 16, 1); /* RACE: first */
#ifdef RACY
        shmem_fence();
#else
        shmem_quiet();
#endif
        double sum = 0;
        for (int i = 0; i < 16; i++) sum += halo[i]; /* RACE: second */
        printf("%g\n", sum);
    }
    shmem_finalize();
    return 0;
}
