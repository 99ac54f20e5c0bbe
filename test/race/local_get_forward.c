/* SPDX-License-Identifier: BSD-3-Clause */
/* What a get brings is put on before the get is complete: the put reads the buffer that the get writes. Mended by
 * quiet between the two. */
#include <shmem.h>
#include <stdio.h>

static int from[4] = {7, 7, 7, 7}, onward[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        int carrier[4] = {0};
        shmem_int_get_nbi(carrier, from, 4, 1); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        shmem_int_put(onward, carrier, 4, 1); /* RACE: second */
    }
    shmem_barrier_all();
    if (me == 1) printf("%d\n", onward[0]);
    shmem_finalize();
    return 0;
}
