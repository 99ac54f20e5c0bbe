/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 writes to its own memory by shmem_p, and a flag tells PE 1, which gets the data from PE 0: the fence orders
 * what goes to one PE, and these are two. Mended by quiet. */
#include <shmem.h>
#include <stdio.h>

static long data, flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_long_p(&data, 5, 0); /* RACE: first */
#ifdef RACY
        shmem_fence();
#else
        shmem_quiet();
#endif
        shmem_long_p(&flag, 1, 1);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%ld\n", shmem_long_g(&data, 0)); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
