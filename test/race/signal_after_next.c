/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonblocking put with a signal, and a put behind it to the same block: the second may come while PE 1 reads.
 * Mended: the second put has a block of its own. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static int block[2][4];
static uint64_t arrived;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_int_put_signal_nbi(block[0], values, 4, &arrived, 1, SHMEM_SIGNAL_SET, 1);
        shmem_fence();
#ifdef RACY
        shmem_int_put_nbi(block[0], values, 2, 1); /* RACE: second */
#else
        shmem_int_put_nbi(block[1], values, 2, 1);
#endif
        shmem_quiet();
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        printf("%d\n", block[0][0]); /* RACE: first */
    }
    shmem_finalize();
    return 0;
}
