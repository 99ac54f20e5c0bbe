/* SPDX-License-Identifier: BSD-3-Clause */
/* The fence stands before the data, where it orders nothing. Mended: it stands between data and flag. */
#include <shmem.h>
#include <stdio.h>

static double data[3];
static int flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const double values[3] = {0.5, 1.5, 2.5};
    if (me == 0) {
#ifdef RACY
        shmem_fence();
#endif
        shmem_double_put_nbi(data, values, 3, 1); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_int_p(&flag, 1, 1);
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_NE, 0);
        printf("%g\n", data[0] + data[2]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
