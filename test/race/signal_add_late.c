/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs 1 and 2 add to one signal of PE 0. PE 2 puts and signals by two calls without a fence. Mended: both by one
 * call. */
/* PES: 3 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static int parts[3];
static uint64_t count;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int part = 100 + me;
    if (me == 1) shmem_int_put_signal(&parts[1], &part, 1, &count, 1, SHMEM_SIGNAL_ADD, 0);
    if (me == 2) {
#ifdef RACY
        shmem_int_put(&parts[2], &part, 1, 0); /* RACE: first */
        shmem_signal_add(&count, 1, 0);
#else
        shmem_int_put_signal(&parts[2], &part, 1, &count, 1, SHMEM_SIGNAL_ADD, 0);
#endif
    }
    if (me == 0) {
        shmem_signal_wait_until(&count, SHMEM_CMP_EQ, 2);
        printf("%d\n", parts[1] + parts[2]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
