/* SPDX-License-Identifier: BSD-3-Clause */
/* An atomic without a result is not complete when its call returns, and a sync completes nothing. Mended: a barrier. */
#include <shmem.h>
#include <stdio.h>

static long counter;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_long_atomic_add(&counter, 5, 1); /* RACE: first */
#ifdef RACY
    shmem_sync_all();
#else
    shmem_barrier_all();
#endif
    if (me == 1) printf("%ld\n", counter); /* RACE: second */
    shmem_finalize();
    return 0;
}
