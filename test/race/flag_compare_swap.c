/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 hands over its data by a compare-and-swap, which OpenSHMEM does not order behind the put. Mended by quiet. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static double data[4];
static int owner = 0;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const double values[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_double_put(data, values, 4, 1); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        shmem_int_atomic_compare_swap(&owner, 0, 2, 1);
    } else {
        while (shmem_int_atomic_compare_swap(&owner, 2, 3, 1) != 2) usleep(50);
        printf("%g\n", data[2]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
