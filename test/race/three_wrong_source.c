/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 2 waits for PE 1's word and reads what PE 0 has put. PE 1 and PE 0 have nothing to do with each other. Mended:
 * PE 2 waits for PE 0's word. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long data, words[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_long_p(&data, 3, 2); /* RACE: first */
        shmem_fence();
    }
    if (me < 2) shmem_long_p(&words[me], 1, 2);
    if (me == 2) {
#ifdef RACY
        shmem_long_wait_until(&words[1], SHMEM_CMP_EQ, 1);
#else
        shmem_long_wait_until(&words[0], SHMEM_CMP_EQ, 1);
#endif
        printf("%ld\n", data); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
