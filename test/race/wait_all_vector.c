/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 waits for PE 1's word to be 1 and PE 2's to be 4. PE 2's data come after its word is 4. Mended: PE 0 waits
 * for 8, which comes behind the data. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long parts[3], words[3];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 1) shmem_long_p(&words[1], 1, 0);
    if (me == 2) {
        shmem_long_p(&words[2], 4, 0);
        shmem_long_p(&parts[2], 12, 0); /* RACE: first */
#ifndef RACY
        shmem_fence();
        shmem_long_p(&words[2], 8, 0);
#endif
    }
    if (me == 0) {
        const int left_out[3] = {1, 0, 0};
#ifdef RACY
        const long values[3] = {0, 1, 4};
#else
        const long values[3] = {0, 1, 8};
#endif
        shmem_long_wait_until_all_vector(words, 3, left_out, SHMEM_CMP_EQ, values);
        printf("%ld\n", parts[2]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
