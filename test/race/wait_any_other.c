/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_until_any names the word that has come, and PE 1 reads the data of the other. Its status array leaves word 0
 * out. Mended: PE 1 reads the data of the word that was named. */
#include <shmem.h>
#include <stdio.h>

static long data[2], flags[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_long_p(&data[1], 21, 1);
        shmem_fence();
        shmem_long_p(&flags[1], 1, 1);
        shmem_long_p(&data[0], 20, 1); /* RACE: first */
    } else {
        const int left_out[2] = {1, 0};
        const size_t which = shmem_long_wait_until_any(flags, 2, left_out, SHMEM_CMP_EQ, 1);
#ifdef RACY
        const size_t take = 1 - which;
#else
        const size_t take = which;
#endif
        printf("%ld\n", data[take]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
