/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 loads through shmem_ptr, from PE 1's memory, what PE 1 puts to itself. Mended by a barrier, which completes
 * the put. */
#include <shmem.h>
#include <stdio.h>

static int values[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int seven = 7;
    if (me == 1) shmem_int_put(&values[1], &seven, 1, 1); /* RACE: first */
#ifdef RACY
    shmem_sync_all();
#else
    shmem_barrier_all();
#endif
    if (me == 0) {
        const int *there = shmem_ptr(values, 1);
        if (there) printf("%d\n", there[1]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
