/* SPDX-License-Identifier: BSD-3-Clause */
/* test_any names word 1, and PE 1 takes the data of word 0, which come without a flag. Mended: those of word 1. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static double data[2];
static int flags[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_double_p(&data[1], 1.5, 1);
        shmem_fence();
        shmem_int_p(&flags[1], 1, 1);
        shmem_double_p(&data[0], 0.5, 1); /* RACE: first */
    } else {
        size_t which;
        while ((which = shmem_int_test_any(flags, 2, NULL, SHMEM_CMP_EQ, 1)) == SIZE_MAX) usleep(50);
#ifdef RACY
        which = 0;
#endif
        printf("%g\n", data[which]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
