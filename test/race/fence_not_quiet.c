/* SPDX-License-Identifier: BSD-3-Clause */
/* A fence completes nothing: after a sync PE 1 may still read old data. Mended by quiet in place of the fence. */
/* SAYS: not completed: a fence orders it before later puts, and completes nothing */
#include <shmem.h>
#include <stdio.h>

static int data[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_int_put(data, values, 4, 1); /* RACE: first */
#ifdef RACY
        shmem_fence();
#else
        shmem_quiet();
#endif
    }
    shmem_sync_all();
    if (me == 1) printf("%d\n", data[0]); /* RACE: second */
    shmem_finalize();
    return 0;
}
