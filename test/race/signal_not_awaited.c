/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 reads the data of a put with a signal without a look at the signal. Mended: it waits for the signal. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static float data[4];
static uint64_t arrived;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const float values[4] = {1, 2, 3, 4};
    if (me == 0) shmem_float_put_signal(data, values, 4, &arrived, 1, SHMEM_SIGNAL_SET, 1); /* RACE: first */
    if (me == 1) {
#ifndef RACY
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
#endif
        printf("%g\n", (double)data[1]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
