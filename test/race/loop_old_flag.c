/* SPDX-License-Identifier: BSD-3-Clause */
/* Each round has a flag of its own, and PE 1 waits for that of the first round in the second one, too, where it
 * holds already. Mended: it waits for the flag of the round. */
#include <shmem.h>
#include <stdio.h>

static int data, flags[2], read_in[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (int round = 0; round < 2; round++) {
        if (me == 0) {
            shmem_int_p(&data, 10 + round, 1); /* RACE: first */
            shmem_fence();
            shmem_int_atomic_set(&flags[round], 1, 1);
            shmem_int_wait_until(&read_in[round], SHMEM_CMP_EQ, 1);
        } else {
#ifdef RACY
            shmem_int_wait_until(&flags[0], SHMEM_CMP_EQ, 1);
#else
            shmem_int_wait_until(&flags[round], SHMEM_CMP_EQ, 1);
#endif
            const int seen = data; /* RACE: second */
            shmem_int_atomic_set(&read_in[round], 1, 0);
            printf("%d\n", seen);
        }
    }
    shmem_finalize();
    return 0;
}
