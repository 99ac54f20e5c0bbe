/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 reads the second block after the flag of the first. PE 0 sets the flag of the second only when PE 1 has
 * answered. Mended: PE 1 reads each block after its own flag. */
#include <shmem.h>
#include <stdio.h>

static int block[2], flag, answer;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_int_p(&block[0], 10, 1);
        shmem_fence();
        shmem_int_p(&flag, 1, 1);
        shmem_int_p(&block[1], 20, 1); /* RACE: first */
        shmem_int_wait_until(&answer, SHMEM_CMP_EQ, 1);
        shmem_fence();
        shmem_int_p(&flag, 2, 1);
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
#ifdef RACY
        const int seen = block[1]; /* RACE: second */
        shmem_int_atomic_set(&answer, 1, 0);
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 2);
#else
        shmem_int_atomic_set(&answer, 1, 0);
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 2);
        const int seen = block[1];
#endif
        printf("%d %d\n", block[0], seen);
    }
    shmem_finalize();
    return 0;
}
