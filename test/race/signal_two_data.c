/* SPDX-License-Identifier: BSD-3-Clause */
/* Two puts to two PEs, and one signal to the second of them, who then gets the data of the first. Mended: quiet before
 * the signal. */
/* PES: 3 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long data[2], copy[2];
static uint64_t arrived;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long values[2] = {1, 2};
    if (me == 0) {
        shmem_long_put(data, values, 2, 1); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        shmem_long_put_signal(copy, values, 2, &arrived, 1, SHMEM_SIGNAL_SET, 2);
    }
    if (me == 2) {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        printf("%ld\n", shmem_long_g(&data[1], 1) + copy[0]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
