/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_until_some is done when some words have come; PE 0 reads the parts of all. It looks at PE 1's word alone.
 * Mended: it goes on until both have come. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static int parts[3], flags[3];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me > 0) {
        shmem_int_p(&parts[me], me, 0); /* RACE: first */
        shmem_fence();
        shmem_int_atomic_set(&flags[me], 1, 0);
    } else {
        int left_out[3] = {1, 0, 1};
        size_t indices[3];
        if (shmem_int_wait_until_some(flags, 3, indices, left_out, SHMEM_CMP_EQ, 1) != 1) shmem_global_exit(1);
#ifndef RACY
        left_out[2] = 0;
        left_out[1] = 1;
        if (shmem_int_wait_until_some(flags, 3, indices, left_out, SHMEM_CMP_EQ, 1) != 1) shmem_global_exit(1);
#endif
        int sum = 0;
        for (int i = 1; i < 3; i++) sum += parts[i]; /* RACE: second */
        printf("%d\n", sum);
    }
    shmem_finalize();
    return 0;
}
