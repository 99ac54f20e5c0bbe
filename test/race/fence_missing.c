/* SPDX-License-Identifier: BSD-3-Clause */
/* Data, then a flag, without a fence between them: PE 1 may see the flag first. Mended by shmem_fence. */
#include <shmem.h>
#include <stdio.h>

static long data[4];
static long flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long values[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_long_put(data, values, 4, 1); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_long_p(&flag, 1, 1);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%ld\n", data[3]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
