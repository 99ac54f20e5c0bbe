/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 waits for the word that announces the data, not for the one that says they are there. Mended: it waits for
 * that. */
#include <shmem.h>
#include <stdio.h>

static int data[2];
static long announced, ready;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[2] = {1, 2};
    if (me == 0) {
        shmem_long_p(&announced, 2, 1);
        shmem_int_put(data, values, 2, 1); /* RACE: first */
        shmem_fence();
        shmem_long_p(&ready, 1, 1);
    } else {
#ifdef RACY
        shmem_long_wait_until(&announced, SHMEM_CMP_EQ, 2);
#else
        shmem_long_wait_until(&ready, SHMEM_CMP_EQ, 1);
#endif
        printf("%d\n", data[1]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
