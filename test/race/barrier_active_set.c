/* SPDX-License-Identifier: BSD-3-Clause */
/* The barrier is of the active set of PEs 0 and 1, and PE 2 reads. Mended: the set has all three. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long work[SHMEM_BARRIER_SYNC_SIZE];
static int data[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[2] = {1, 2};
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++) work[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (me == 0) shmem_int_put(data, values, 2, 2); /* RACE: first */
#ifdef RACY
    if (me < 2) shmem_barrier(0, 0, 2, work);
#else
    shmem_barrier(0, 0, 3, work);
#endif
    if (me == 2) printf("%d\n", data[1]); /* RACE: second */
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
