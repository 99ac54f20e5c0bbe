/* SPDX-License-Identifier: BSD-3-Clause */
/* As many words as blocks, each with the value of its round. PE 1 takes the block behind the one that was named.
 * Mended: the one that was named. */
#include <shmem.h>
#include <stdio.h>

static long blocks[3], words[3];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_long_p(&blocks[1], 11, 1);
        shmem_fence();
        shmem_long_p(&words[1], 31, 1);
        shmem_long_p(&blocks[2], 12, 1); /* RACE: first */
    } else {
        const long values[3] = {30, 31, 32};
        size_t indices[3];
        if (shmem_long_wait_until_some_vector(words, 3, indices, NULL, SHMEM_CMP_EQ, values) != 1) shmem_global_exit(1);
#ifdef RACY
        const size_t at = indices[0] + 1;
#else
        const size_t at = indices[0];
#endif
        printf("%ld\n", blocks[at]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
