/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcasts whose root changes from round to round. A root changes its source when the call has returned; a sync
 * stands before a result is overwritten. */
/* PES: 3 */
#include <shmem.h>

static int source[3], dest[3];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0;
    for (int round = 0; round < 6; round++) {
        const int root = round % 3;
        if (me == root)
            for (int i = 0; i < 3; i++) source[i] = 10 * round + i;
        shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, 3, root);
        if (me == root) source[0] = -1;
        wrong += dest[2] != 10 * round + 2 || dest[0] != 10 * round;
        shmem_sync_all();
    }
    shmem_finalize();
    return wrong;
}
