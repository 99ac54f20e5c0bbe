/* SPDX-License-Identifier: BSD-3-Clause */
/* A get that is under way is not completed by a signal that its caller receives. Mended: quiet. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long data[4] = {1, 2, 3, 4}, copy[4];
static uint64_t arrived;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_long_get_nbi(copy, data, 4, 1); /* RACE: first */
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
#ifndef RACY
        shmem_quiet();
#endif
        printf("%ld\n", copy[2]); /* RACE: second */
    } else {
        shmem_signal_set(&arrived, 1, 0);
    }
    shmem_finalize();
    return 0;
}
