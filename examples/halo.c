/* SPDX-License-Identifier: BSD-3-Clause */
/* halo: PE 0 puts the border of its part into the next PE's array, which that PE then reads. The program has a data
 * race, which the race detector finds: shmem_sync_all waits for all PEs, but does not complete the put. With -DRIGHT it
 * calls shmem_barrier_all, which does both.
 *
 *     oshcc --race halo.c -o halo && mpiexec.mpich -n 2 ./halo */
#include <shmem.h>

static double halo[64];

int main(void) {
    double edge = 3.0, sum = 0;
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    if (me == 0) shmem_double_put_nbi(&halo[3], &edge, 1, next);
#ifdef RIGHT
    shmem_barrier_all();
#else
    shmem_sync_all();
#endif
    for (int i = 0; i < 64; i++) sum += halo[i];
    shmem_finalize();
    return sum < 0;
}
