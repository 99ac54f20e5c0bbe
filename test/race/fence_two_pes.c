/* SPDX-License-Identifier: BSD-3-Clause */
/* A fence orders what goes to one PE. The data go to PE 1 and the flag to PE 2, which then gets the data from PE 1.
 * Mended by quiet. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static int data[4], flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[4] = {1, 2, 3, 4};
    int copy[4] = {0};
    if (me == 0) {
        shmem_int_put(data, values, 4, 1); /* RACE: first */
#ifdef RACY
        shmem_fence();
#else
        shmem_quiet();
#endif
        shmem_int_p(&flag, 1, 2);
    } else if (me == 2) {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        shmem_int_get(copy, data, 4, 1); /* RACE: second */
        printf("%d\n", copy[0]);
    }
    shmem_finalize();
    return 0;
}
