/* SPDX-License-Identifier: BSD-3-Clause */
/* A strided get reads every third element, and the owner writes element 6. Mended: the owner writes element 7. */
#include <shmem.h>
#include <stdio.h>

static double line[12];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    double third[4] = {0};
    if (me == 0) shmem_double_iget(third, line, 1, 3, 4, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        line[6] = 1.5; /* RACE: second */
#else
        line[7] = 1.5;
#endif
    }
    printf("%g\n", third[2]);
    shmem_finalize();
    return 0;
}
