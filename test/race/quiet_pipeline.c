/* SPDX-License-Identifier: BSD-3-Clause */
/* A pipeline of three PEs: data go on by puts with a signal, and each PE says by a word when its place is free
 * again. */
/* PES: 3 */
#include <shmem.h>
#include <stdint.h>

#define ITEMS 6
static long place[4];
static uint64_t full, freed;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0;
    for (uint64_t i = 1; i <= ITEMS; i++) {
        long work[4] = {(long)i, (long)i, (long)i, (long)i};
        if (me > 0) {
            shmem_signal_wait_until(&full, SHMEM_CMP_GE, i);
            for (int k = 0; k < 4; k++) work[k] = place[k] + 1;
            shmem_uint64_atomic_set(&freed, i, me - 1);
        }
        if (me < 2) {
            shmem_signal_wait_until(&freed, SHMEM_CMP_GE, i - 1);
            shmem_long_put_signal(place, work, 4, &full, 1, SHMEM_SIGNAL_ADD, me + 1);
        } else {
            wrong += work[3] != (long)i + 2;
        }
    }
    shmem_finalize();
    return wrong;
}
