/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs 1 and 2 draw slots of PE 0's list from an atomic counter and fill them; PE 0 reads a slot when the counter
 * says that it was drawn, not filled. Mended by a barrier. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static int next_slot, slots[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me > 0) {
        const int at = shmem_int_atomic_fetch_inc(&next_slot, 0);
        shmem_int_p(&slots[at], me, 0); /* RACE: first */
    }
    if (me == 0) shmem_int_wait_until(&next_slot, SHMEM_CMP_EQ, 2);
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 0) printf("%d\n", slots[0] + slots[1]); /* RACE: second */
    shmem_finalize();
    return 0;
}
