/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 waits for the words of both writers, but its status array leaves PE 2's word out. Mended: none is left out. */
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
        shmem_int_p(&flags[me], 1, 0);
    } else {
#ifdef RACY
        const int left_out[3] = {1, 0, 1};
#else
        const int left_out[3] = {1, 0, 0};
#endif
        shmem_int_wait_until_all(flags, 3, left_out, SHMEM_CMP_EQ, 1);
        printf("%d\n", parts[1] + parts[2]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
