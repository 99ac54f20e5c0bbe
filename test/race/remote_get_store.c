/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 gets what PE 1 is writing. Mended by a sync, which orders what PE 1 has stored in its own memory. */
#include <shmem.h>
#include <stdio.h>

static double state[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    double copy[4] = {0};
    if (me == 1) state[1] = 2.5; /* RACE: first */
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 0) {
        shmem_double_get(copy, state, 4, 1); /* RACE: second */
        printf("%g\n", copy[1]);
    }
    shmem_finalize();
    return 0;
}
