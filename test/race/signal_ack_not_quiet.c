/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonblocking put with signal, whose target answers. The answer does not free the source: only quiet does. Mended:
 * quiet. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long data[4];
static uint64_t arrived;
static int answer;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    static long values[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_long_put_signal_nbi(data, values, 4, &arrived, 1, SHMEM_SIGNAL_SET, 1); /* RACE: first */
        shmem_int_wait_until(&answer, SHMEM_CMP_EQ, 1);
#ifndef RACY
        shmem_quiet();
#endif
        values[0] = 9; /* RACE: second */
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        printf("%ld\n", data[0]);
        shmem_int_atomic_set(&answer, 1, 0);
    }
    shmem_finalize();
    return 0;
}
