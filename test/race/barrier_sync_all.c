/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_sync_all completes no puts. Mended by shmem_barrier_all, which does. */
#include <shmem.h>
#include <stdio.h>

static int data[16];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int values[16] = {0};
    for (int i = 0; i < 16; i++) values[i] = me;
    shmem_int_put(data, values, 16, 1 - me); /* RACE: first */
#ifdef RACY
    shmem_sync_all();
#else
    shmem_barrier_all();
#endif
    printf("%d\n", data[15]); /* RACE: second */
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
