/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 sets a word once. The other PEs see its value by atomics, one after the other, and each reads it by a plain get
 * when all have seen it. */
/* PES: 7 */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static long word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long sum = 0;
    if (me == 0) {
        usleep(5000);
        shmem_long_atomic_set(&word, 1, 0);
    } else {
        usleep(10000u * (unsigned)me);
        while (shmem_long_atomic_fetch(&word, 0) == 0) continue;
        usleep(40000);
        sum = shmem_long_g(&word, 0);
    }
    shmem_barrier_all();
    printf("PE %d: %ld\n", me, sum);
    shmem_finalize();
    return 0;
}
