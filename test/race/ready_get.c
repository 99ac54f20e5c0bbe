/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 2 gets the result of a broadcast from PE 1, and tells PE 1, who then calls the next one. The root has not heard of
 * it. Mended: PE 2 tells the root. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static int value, copy;
static uint64_t done;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int seen = 0;
    shmem_int_broadcast(SHMEM_TEAM_WORLD, &copy, &value, 1, 0);
    shmem_sync_all();
    if (me == 2) {
        seen = shmem_int_g(&copy, 1); /* RACE: first */
#ifdef RACY
        shmem_uint64_atomic_set(&done, 1, 1);
#else
        shmem_uint64_atomic_set(&done, 1, 0);
        shmem_uint64_atomic_set(&done, 1, 1);
#endif
    }
    if (me == 1) shmem_uint64_wait_until(&done, SHMEM_CMP_EQ, 1);
#ifndef RACY
    if (me == 0) shmem_uint64_wait_until(&done, SHMEM_CMP_EQ, 1);
#endif
    shmem_int_broadcast(SHMEM_TEAM_WORLD, &copy, &value, 1, 0); /* RACE: second */
    printf("%d\n", seen);
    shmem_finalize();
    return 0;
}
