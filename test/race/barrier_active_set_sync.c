/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_sync of an active set completes no puts, shmem_barrier of one does. Mended by that. */
#include <shmem.h>
#include <stdio.h>

static long work[SHMEM_BARRIER_SYNC_SIZE];
static double data;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++) work[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (me == 0) shmem_double_p(&data, 0.25, 1); /* RACE: first */
#ifdef RACY
    shmem_sync(0, 0, 2, work);
#else
    shmem_barrier(0, 0, 2, work);
#endif
    if (me == 1) printf("%g\n", data); /* RACE: second */
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
