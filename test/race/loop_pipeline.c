/* SPDX-License-Identifier: BSD-3-Clause */
/* A pipeline of three PEs: PE 1 hands on what it got, and takes the next before PE 2 has it all. The source of a put
 * is under way. Mended by quiet before the place is used again. */
/* PES: 3 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static int box;
static uint64_t full[2];
static int taken;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int carried = 0;
    for (int i = 0; i < 2; i++) {
        if (me > 0) {
            shmem_signal_wait_until(&full[i], SHMEM_CMP_EQ, 1);
            carried = box + 1; /* RACE: second */
            shmem_int_atomic_set(&taken, i + 1, me - 1);
        }
        if (me < 2) {
            if (i > 0) shmem_int_wait_until(&taken, SHMEM_CMP_GE, i);
            shmem_int_put_signal_nbi(&box, &carried, 1, &full[i], 1, SHMEM_SIGNAL_SET, me + 1); /* RACE: first */
#ifndef RACY
            shmem_quiet();
#endif
        }
    }
    printf("%d\n", carried);
    shmem_finalize();
    return 0;
}
