/* SPDX-License-Identifier: BSD-3-Clause */
/* A ticket lock made of atomics: a PE draws a number and waits until it is served. What it guards is got and put; a
 * quiet completes the put before the next number is served. */
/* PES: 3 */
#include <shmem.h>
#include <unistd.h>

static long next_ticket, served, total;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (int round = 0; round < 4; round++) {
        const long mine = shmem_long_atomic_fetch_inc(&next_ticket, 0);
        while (shmem_long_atomic_fetch(&served, 0) != mine) usleep(20);
        long value = 0;
        shmem_long_get(&value, &total, 1, 0);
        value += 1;
        shmem_long_put(&total, &value, 1, 0);
        shmem_quiet();
        shmem_long_atomic_inc(&served, 0);
    }
    shmem_barrier_all();
    const int wrong = me == 0 && total != 4 * shmem_n_pes();
    shmem_finalize();
    return wrong;
}
