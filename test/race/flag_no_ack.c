/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 sends two rounds through one buffer and never asks whether PE 1 has read the first. Mended: it waits for
 * that. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static int buffer[4];
static uint64_t full[2], empty;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        int values[4] = {1, 1, 1, 1};
        shmem_int_put_signal(buffer, values, 4, &full[0], 1, SHMEM_SIGNAL_SET, 1);
        values[0] = 2;
#ifndef RACY
        shmem_signal_wait_until(&empty, SHMEM_CMP_EQ, 1);
#endif
        shmem_fence();
        shmem_int_put_signal(buffer, values, 4, &full[1], 1, SHMEM_SIGNAL_SET, 1); /* RACE: second */
    } else {
        shmem_signal_wait_until(&full[0], SHMEM_CMP_EQ, 1);
        const int one = buffer[0]; /* RACE: first */
        shmem_uint64_atomic_set(&empty, 1, 0);
        shmem_signal_wait_until(&full[1], SHMEM_CMP_EQ, 1);
        printf("%d %d\n", one, buffer[0]);
    }
    shmem_finalize();
    return 0;
}
